public import ChatModel
import Dispatch
import Glibc
public import Identity
import SystemCalls

/// A blob on its way in.
struct Receiving {
    let size: UInt64
    /// `nil` until the hashes have come.
    private(set) var list: BlobHashList?
    private(set) var missing: [Int]
    private(set) var verified: UInt64 = 0
    private var part: Chunks?

    init(size: UInt64) {
        self.size = size
        missing = Array(0..<BlobRoot.chunkCount(size: size))
    }

    var progress: BlobProgress {
        BlobProgress(hasHashes: list != nil, missing: missing, verified: verified, isComplete: false)
    }

    /// Takes the hashes, and finds which chunks are in the file already.
    mutating func attach(_ list: BlobHashList, _ part: Chunks) throws(SystemCallError) {
        var missing: [Int] = []
        var verified: UInt64 = 0
        for (index, hash) in list.hashes.enumerated() {
            if part.hasData(index), Chunks.hash(try part.read(index)) == hash {
                verified += UInt64(BlobRoot.length(ofChunk: index, size: size))
            } else {
                missing.append(index)
            }
        }
        self.list = list
        self.part = part
        self.missing = missing
        self.verified = verified
    }

    /// Whether the bytes are the chunk that the hashes say.
    func accepts(_ bytes: [UInt8], at index: Int) -> Bool {
        guard let list, list.hashes.indices.contains(index) else { return false }
        return bytes.count == BlobRoot.length(ofChunk: index, size: size) && Chunks.hash(bytes) == list.hashes[index]
    }

    mutating func write(_ bytes: [UInt8], at index: Int) throws(SystemCallError) {
        guard let part, let place = place(of: index) else { return }
        try part.write(bytes, at: index)
        missing.remove(at: place)
        verified += UInt64(bytes.count)
    }

    /// - Returns: `nil` unless the chunk is here.
    func read(_ index: Int) throws(BlobError) -> [UInt8]? {
        guard let part, let list, list.hashes.indices.contains(index), place(of: index) == nil else { return nil }
        let bytes = try asBlobError { () throws(SystemCallError) in try part.read(index) }
        return Chunks.hash(bytes) == list.hashes[index] ? bytes : nil
    }

    /// Returns once all bytes are on the disk.
    func synchronize() throws(SystemCallError) {
        guard let part else { return }
        try systemCall("fdatasync", part.subject) { fdatasync(part.file.number) }
    }

    /// Where in ``missing`` a chunk is; `nil` if it isn't missing.
    private func place(of index: Int) -> Int? {
        var range = missing.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if missing[middle] == index { return middle }
            range = missing[middle] < index ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}

extension BlobStore {
    /// Begins to receive a blob, or goes on with it, and tells what is lacking.
    ///
    /// What came before a restart is hashed anew and used.
    ///
    /// - Throws: `full` if less than ``reservedRoom`` would stay free, `mismatch` if the size isn't that of the root.
    public func begin(root: BlobRoot, size: UInt64) throws(BlobError) -> BlobProgress {
        dispatchPrecondition(condition: .onQueue(queue))
        if size > ImageInfo.maximumSize { throw .tooLarge(size) }
        if let complete = try complete(root) {
            if complete.list.size != size { throw .mismatch("blob \(root) has another size") }
            return .complete(size)
        }
        if let known = receiving[root], known.size == size { return known.progress }
        // Without the hashes a size is only what somebody says.
        if receiving[root]?.list != nil { throw .mismatch("blob \(root) has another size") }
        let saved = size == 0 ? BlobHashList(size: 0, hashes: []) : try savedHashes(of: root)
        receiving[root] = Receiving(size: size)
        do throws(BlobError) {
            var progress = Receiving(size: size).progress
            if let saved { progress = try setHashes(root: root, size: saved.size, hashes: saved.hashes) }
            if !progress.isComplete { try requireRoom(for: size - progress.verified) }
            return progress
        } catch {
            receiving[root] = nil
            throw error
        }
    }

    /// Takes the chunks' hashes of a blob that was begun.
    ///
    /// - Throws: `mismatch` if they aren't those of the root.
    @discardableResult public func setHashes(
        root: BlobRoot, size: UInt64, hashes: [Bytes32]
    ) throws(BlobError) -> BlobProgress {
        dispatchPrecondition(condition: .onQueue(queue))
        guard var known = receiving[root] else { return try finished(root) }
        if known.list != nil { return known.progress }
        let list = BlobHashList(size: size, hashes: hashes)
        guard size == known.size, hashes.count == BlobRoot.chunkCount(size: size), list.root == root else {
            throw .mismatch("the hashes of blob \(root) don't belong to it")
        }
        try save(list)
        try asBlobError { () throws(SystemCallError) in
            let file = try directory.open(root.partName, O_CREAT | O_RDWR, mode: 0o600)
            let part = Chunks(file: file, size: size, subject: "\(directory.path)/\(root.partName)")
            try known.attach(list, part)
        }
        return try keep(known, root)
    }

    /// Takes a chunk of a blob whose hashes are known; with the last one the blob is complete and on the disk.
    ///
    /// - Throws: `mismatch` if the bytes aren't the chunk; after `full` and `io` the chunk is still missing.
    public func write(chunk index: Int, of root: BlobRoot, bytes: [UInt8]) throws(BlobError) -> BlobProgress {
        dispatchPrecondition(condition: .onQueue(queue))
        guard var known = receiving[root] else { return try finished(root) }
        guard known.accepts(bytes, at: index) else { throw .mismatch("chunk \(index) isn't that of blob \(root)") }
        try asBlobError { () throws(SystemCallError) in try known.write(bytes, at: index) }
        return try keep(known, root)
    }

    private func keep(_ known: Receiving, _ root: BlobRoot) throws(BlobError) -> BlobProgress {
        receiving[root] = known
        if !known.missing.isEmpty { return known.progress }
        try asBlobError { () throws(SystemCallError) in
            try known.synchronize()
            try directory.rename(root.partName, to: root.name)
            try directory.synchronize()
        }
        receiving[root] = nil
        return .complete(known.size)
    }

    /// What came late for a blob that is complete is no error.
    private func finished(_ root: BlobRoot) throws(BlobError) -> BlobProgress {
        guard let size = try size(ofComplete: root) else { throw .unknown(root) }
        return .complete(size)
    }

    private func requireRoom(for size: UInt64) throws(BlobError) {
        let room = try asBlobError { () throws(SystemCallError) in try directory.room() }
        if room < size + Self.reservedRoom {
            throw .full(
                "\(size) bytes don't fit in \(directory.path): \(room) are free, of which \(Self.reservedRoom) stay free"
            )
        }
    }
}
