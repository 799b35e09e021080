import ChatModel
import Foundation
import Identity
import Testing

@testable import History

/// A file system of 8 MiB, mounted while it lives.
final class SmallDisk: Sendable {
    let scratch: Scratch
    var path: String { scratch.path }
    var ballast: String { "\(path)/ballast" }

    init() throws {
        scratch = try Scratch()
        try Self.run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", scratch.path)
    }

    deinit { try? Self.run("umount", "-l", scratch.path) }

    /// Takes up all of its room but `rest` bytes.
    func fill(leaving rest: UInt64) throws {
        let room = try Directory(making: path).room()
        let file = FileManager.default.createFile(atPath: ballast, contents: Data(count: Int(room - min(rest, room))))
        if !file { throw Complaint("can't fill \(path)") }
    }

    private static func run(_ command: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Complaint("\(command) ended with \(process.terminationStatus)") }
    }
}

struct FullDiskTests {
    @Test func `on a full disk nothing is acknowledged, all is readable, and it recovers when there is room`() throws {
        guard isRoot() else { return }
        let disk = try SmallDisk()
        let key = SigningKey()
        let (history, _) = try History.open(directory: disk.path, room: lab, key: key)
        try disk.fill(leaving: 1 << 20)
        let long = String(repeating: "x", count: 10_000)
        var acknowledged = 0
        var failure: HistoryError?

        while failure == nil, acknowledged < 1_000 {
            do {
                _ = try history.append(text("\(acknowledged) \(long)"))
                acknowledged += 1
            } catch { failure = error as? HistoryError }
        }
        let readable = try history.texts()
        let again = #expect(throws: HistoryError.self) { try history.append(text(long)) }
        try FileManager.default.removeItem(atPath: disk.ballast)
        let after = try history.append(text("room"), text("again"))
        history.on { $0.close() }
        let (reopened, opened) = try History.open(directory: disk.path, room: lab, key: key)

        for error in [failure, again] {
            guard case .full(let text)? = error else { throw Complaint("\(String(describing: error))") }
            #expect(text.contains("disk is full"))
        }
        #expect(acknowledged > 10)
        #expect(readable.count == acknowledged && readable.last?.hasPrefix("\(acknowledged - 1) ") == true)
        #expect(after.count == 2)
        #expect(opened.notice == nil && opened.ranges[opened.ownLog]?.last == UInt64(acknowledged + 2))
        #expect(try reopened.texts(last: 2) == ["room", "again"])
        reopened.on { $0.close() }
    }

    @Test func `a blob that doesn't fit is refused, leaves nothing, and can come later`() throws {
        guard isRoot() else { return }
        let disk = try SmallDisk()
        let store = try BlobStore(directory: disk.path)
        let elsewhere = try Scratch()
        let bytes = [UInt8](repeating: 7, count: 3 << 20)
        try disk.fill(leaving: 2 << 20)

        #expect { try store.adopt(bytes, in: elsewhere) } throws: { error in
            if case .full? = error as? BlobError { true } else { false }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/blobs").isEmpty)
        try FileManager.default.removeItem(atPath: disk.ballast)
        let blob = try store.adopt(bytes, in: elsewhere)

        #expect(store.on { $0.contains(blob.root) })
        let other = BlobRoot(size: 1, chunkHashes: [SHA256.digest(of: [1])])
        #expect { try store.on { try $0.begin(root: other, size: 1) } } throws: { error in
            if case .full? = error as? BlobError { true } else { false }
        }
    }
}
