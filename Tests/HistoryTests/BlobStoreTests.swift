import ChatModel
import Foundation
import Identity
import SystemCalls
import Testing

@testable import History

private let mebibyte = 1 << 20

extension BlobStore {
    func on<Result>(_ body: (BlobStore) throws -> Result) rethrows -> Result { try queue.sync { try body(self) } }

    func adopt(_ bytes: [UInt8], in scratch: Scratch) throws -> AdoptedBlob {
        let file = try source(bytes, in: scratch)
        return try on { try $0.adopt(file) }
    }
}

private func source(_ bytes: [UInt8], in scratch: Scratch) throws -> Descriptor {
    let path = "\(scratch.path)/source-\(UUID().uuidString)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try openFile(path)
}

private func openFile(_ path: String, _ flags: CInt = O_RDWR) throws -> Descriptor {
    Descriptor(owning: try systemCall("open", path) { open(path, flags | O_CLOEXEC) })
}

private func pattern(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 16 ^ size) }
}

/// A blob as a peer has it.
private struct Remote {
    let bytes: [UInt8]
    let hashes: [Bytes32]
    var size: UInt64 { UInt64(bytes.count) }
    var root: BlobRoot { BlobRoot(size: size, chunkHashes: hashes) }

    init(_ size: Int) {
        bytes = pattern(size)
        hashes = stride(from: 0, to: size, by: mebibyte).map { [bytes] start in
            SHA256.digest(of: Array(bytes[start..<min(start + mebibyte, size)]))
        }
    }

    func chunk(_ index: Int) -> [UInt8] { Array(bytes[index * mebibyte..<min((index + 1) * mebibyte, bytes.count)]) }
}

struct BlobStoreTests {
    let scratch: Scratch
    let store: BlobStore

    init() throws {
        scratch = try Scratch()
        store = try BlobStore(directory: scratch.path)
    }

    private func contents(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func receive(_ remote: Remote, chunks: some Sequence<Int>) throws -> BlobProgress {
        try store.on { store in
            var progress = try store.begin(root: remote.root, size: remote.size)
            if !progress.hasHashes {
                progress = try store.setHashes(root: remote.root, size: remote.size, hashes: remote.hashes)
            }
            for index in chunks {
                progress = try store.write(chunk: index, of: remote.root, bytes: remote.chunk(index))
            }
            return progress
        }
    }

    @Test(arguments: [0, 1, mebibyte, mebibyte + 1, 20 * mebibyte])
    func `a blob goes in here, over there and into the downloads unchanged`(size: Int) throws {
        let remote = Remote(size)
        let file = try source(remote.bytes, in: scratch)
        lseek(file.number, off_t(size / 2), SEEK_SET)
        var steps: [UInt64] = []

        let blob = try store.on { try $0.adopt(file) { steps.append($0) } }
        let other = try Scratch()
        let there = try BlobStore(directory: other.path)
        try there.on { there in
            var progress = try there.begin(root: blob.root, size: blob.size)
            if size > 0 {
                #expect(!progress.hasHashes && progress.missing == Array(remote.hashes.indices))
                let hashes = try #require(try store.on { try $0.hashes(of: blob.root, page: 0) })
                progress = try there.setHashes(root: blob.root, size: blob.size, hashes: hashes)
            }
            for index in progress.missing.reversed() {
                #expect(!progress.isComplete)
                let chunk = try #require(try store.on { try $0.read(chunk: index, of: blob.root) })
                progress = try there.write(chunk: index, of: blob.root, bytes: chunk)
            }
            #expect(progress == .complete(blob.size) && there.contains(blob.root))
        }
        let path = try there.on { try $0.place(blob.root, named: "a.bin", in: "\(other.path)/downloads/lab") }

        #expect(blob.root == remote.root && blob.size == remote.size)
        #expect(steps.count == remote.hashes.count && steps.last ?? 0 == blob.size)
        #expect(lseek(file.number, 0, SEEK_CUR) == off_t(size / 2))
        #expect(path == "\(other.path)/downloads/lab/a.bin")
        #expect(try contents(path) == remote.bytes)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(other.path)/blobs").sorted()
                == [blob.root.name, blob.root.hashesName])
        #expect(try store.on { try $0.hashes(of: blob.root, page: 1) } == nil)
        #expect(try store.on { try $0.read(chunk: remote.hashes.count, of: blob.root) } == nil)
    }

    @Test func `the header of what is adopted is read`() throws {
        let gif = Array("GIF89a".utf8) + [0x40, 0x01, 0xf0, 0x00, 0x80, 0, 0]

        let blob = try store.adopt(gif, in: scratch)

        #expect(blob.mediaType == "image/gif" && blob.width == 320 && blob.height == 240)
        #expect(try store.adopt(gif, in: scratch) == blob)
    }

    @Test func `the source may change afterwards`() throws {
        let file = try source(pattern(100), in: scratch)
        let blob = try store.on { try $0.adopt(file) }
        #expect(pwrite(file.number, [1, 2, 3], 3, 0) == 3)

        #expect(try store.on { try $0.read(chunk: 0, of: blob.root) } == pattern(100))
    }

    @Test(arguments: [false, true]) func `a source that changes while it is read is refused`(grows: Bool) throws {
        let file = try source(pattern(3 * mebibyte), in: scratch)

        #expect(throws: BlobError.changed) {
            try store.on {
                try $0.adopt(file) { _ in ftruncate(file.number, off_t(grows ? 4 * mebibyte : mebibyte)) }
            }
        }
        #expect(try scratch.names().contains("blobs"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/blobs").isEmpty)
    }

    @Test func `what isn't a regular file is refused at once`() throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let pipe = ends.map { Descriptor(owning: $0) }

        for file in [pipe[0], try openFile("/dev/zero"), try openFile(scratch.path, O_RDONLY)] {
            #expect(throws: BlobError.notRegular) { try store.on { try $0.adopt(file) } }
        }
    }

    @Test func `a wrong chunk, wrong hashes and a wrong size are refused, and the right ones still taken`() throws {
        let remote = Remote(2 * mebibyte + 5)
        let (root, size) = (remote.root, remote.size)
        let swapped = [remote.hashes[1], remote.hashes[0], remote.hashes[2]]

        try store.on { store in
            #expect(throws: BlobError.unknown(root)) { try store.write(chunk: 0, of: root, bytes: remote.chunk(0)) }
            _ = try store.begin(root: root, size: size)
            for hashes in [swapped, Array(remote.hashes.dropLast()), []] {
                #expect(throws: BlobError.self) { try store.setHashes(root: root, size: size, hashes: hashes) }
            }
            #expect(throws: BlobError.self) { try store.write(chunk: 0, of: root, bytes: remote.chunk(0)) }
            // Until the hashes are here any size may be the right one.
            #expect(try store.begin(root: root, size: 1).missing == [0])
            _ = try store.begin(root: root, size: size)
            try store.setHashes(root: root, size: size, hashes: remote.hashes)
            #expect(throws: BlobError.self) { try store.begin(root: root, size: size + 1) }
            for (index, bytes) in [(0, remote.chunk(1)), (2, remote.chunk(0)), (3, []), (-1, []), (2, [])] {
                #expect(throws: BlobError.self) { try store.write(chunk: index, of: root, bytes: bytes) }
            }
            #expect(try store.begin(root: root, size: size).missing == [0, 1, 2])
            #expect(try store.read(chunk: 0, of: root) == nil)
        }

        #expect(try receive(remote, chunks: 0..<3).isComplete)
    }

    @Test func `an empty blob has one root`() throws {
        let root = BlobRoot(SHA256.digest(of: []))

        #expect(throws: BlobError.self) { try store.on { try $0.begin(root: root, size: 0) } }
        #expect(!store.on { $0.contains(root) })
    }

    @Test func `receiving goes on after a restart with the chunks that are good`() throws {
        let remote = Remote(4 * mebibyte + 9)
        let before = try receive(remote, chunks: [0, 2, 4])
        let part = try openFile("\(scratch.path)/blobs/\(remote.root.partName)")
        #expect(pwrite(part.number, [0xee], 1, off_t(2 * mebibyte + 7)) == 1)

        let again = try BlobStore(directory: scratch.path)
        let resumed = try again.on { try $0.begin(root: remote.root, size: remote.size) }

        #expect(before.missing == [1, 3] && before.verified == UInt64(2 * mebibyte + 9))
        #expect(
            resumed
                == BlobProgress(
                    hasHashes: true, missing: [1, 2, 3], verified: UInt64(mebibyte + 9), isComplete: false))
        try again.on { again in
            #expect(try again.read(chunk: 4, of: remote.root) == remote.chunk(4))
            #expect(throws: BlobError.unknown(remote.root)) {
                try again.place(remote.root, named: "a", in: scratch.path)
            }
            for index in [3, 1, 2] { _ = try again.write(chunk: index, of: remote.root, bytes: remote.chunk(index)) }
            #expect(again.contains(remote.root))
            #expect(try again.write(chunk: 2, of: remote.root, bytes: []).isComplete)
        }
    }

    @Test func `what is abandoned is gone`() throws {
        let remote = Remote(mebibyte + 1)
        _ = try receive(remote, chunks: [0])

        store.on { $0.abandon(remote.root) }

        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/blobs").isEmpty)
        #expect(try store.on { try $0.begin(root: remote.root, size: remote.size) }.verified == 0)
    }

    @Test func `stale temporary files go at the start`() throws {
        let stale = "\(scratch.path)/blobs/.x\(TemporaryFile.suffix)"
        #expect(FileManager.default.createFile(atPath: stale, contents: Data([1])))

        _ = try BlobStore(directory: scratch.path)

        #expect(!FileManager.default.fileExists(atPath: stale))
    }

    @Test func `a blob that rots on the disk is never served, and only its bad chunk is fetched again`() throws {
        let remote = Remote(2 * mebibyte)
        _ = try receive(remote, chunks: 0..<2)
        let file = try openFile("\(scratch.path)/blobs/\(remote.root)")
        #expect(pwrite(file.number, [0xee], 1, 7) == 1)

        #expect(throws: BlobError.damaged(remote.root)) {
            try store.on { try $0.read(chunk: 0, of: remote.root) }
        }
        #expect(!store.on { $0.contains(remote.root) })
        #expect(try store.on { try $0.begin(root: remote.root, size: remote.size) }.missing == [0])
        #expect(try receive(remote, chunks: [0]).isComplete)
        #expect(try store.on { try $0.read(chunk: 0, of: remote.root) } == remote.chunk(0))
    }

    @Test func `a complete blob without its hashes gets them again`() throws {
        let blob = try store.adopt(pattern(mebibyte + 1), in: scratch)
        try FileManager.default.removeItem(atPath: "\(scratch.path)/blobs/\(blob.root.hashesName)")

        let again = try BlobStore(directory: scratch.path)

        #expect(try again.on { try $0.hashes(of: blob.root, page: 0) } == Remote(mebibyte + 1).hashes)
        #expect(scratch.exists("blobs/\(blob.root.hashesName)"))
    }
}
