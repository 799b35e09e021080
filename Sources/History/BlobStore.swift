public import ChatModel
public import Dispatch
import Glibc
public import Identity
import SystemCalls

extension BlobProgress {
    static func complete(_ size: UInt64) -> BlobProgress {
        BlobProgress(hasHashes: true, missing: [], verified: size, isComplete: true)
    }
}

/// The blobs of a room on disk, by their roots (docs/protocol.md, "Blobs").
///
/// In the directory `blobs`: `ROOT`, a complete blob; `ROOT.hashes`, its size and its chunks' hashes; `ROOT.part`, what
/// has come so far. Which chunks of that are good is found by hashing them, so that no crash can make it lie.
///
/// Confined to ``queue``: call everything there. At most one chunk of 1 MiB is in memory.
///
/// `@unchecked`: every method checks that it runs on ``queue``, and touches the state only there.
public final class BlobStore: @unchecked Sendable {
    /// What receiving leaves free on the disk, in bytes.
    public static let reservedRoom: UInt64 = 64 << 20

    /// A complete blob that is being read.
    struct Complete {
        var chunks: Chunks
        var list: BlobHashList
    }

    public let queue = DispatchQueue(label: "BlobStore")
    let directory: Directory
    var receiving: [BlobRoot: Receiving] = [:]
    private var open: [BlobRoot: Complete] = [:]

    private static let maximumOpen = 8  // complete blobs

    /// Opens the store in a state directory; what is missing is made, mode 0700, and stale temporary files are removed.
    public init(directory: String) throws(BlobError) {
        self.directory = try asBlobError { () throws(SystemCallError) in
            let blobs = try Directory(making: "\(directory)/blobs")
            for name in try blobs.names() where name.hasSuffix(TemporaryFile.suffix) { try blobs.remove(name) }
            return blobs
        }
    }

    /// Whether all of a blob is here.
    public func contains(_ root: BlobRoot) -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return (try? size(ofComplete: root)) != nil
    }

    /// A page of up to ``BlobHashes/pageLength`` hashes; `nil` if they aren't known or there is no such page.
    public func hashes(of root: BlobRoot, page: UInt32) throws(BlobError) -> [Bytes32]? {
        dispatchPrecondition(condition: .onQueue(queue))
        guard let hashes = try complete(root)?.list.hashes ?? receiving[root]?.list?.hashes else { return nil }
        let start = Int(page) * BlobHashes.pageLength
        if start >= hashes.count { return hashes.isEmpty && page == 0 ? [] : nil }
        return Array(hashes[start..<min(start + BlobHashes.pageLength, hashes.count)])
    }

    /// A chunk's bytes, as far as it is here, also of a blob that isn't complete.
    ///
    /// - Returns: `nil` if it isn't here.
    /// - Throws: `damaged` if it no longer matches its hash; the blob is incomplete from then on.
    public func read(chunk index: Int, of root: BlobRoot) throws(BlobError) -> [UInt8]? {
        dispatchPrecondition(condition: .onQueue(queue))
        guard let complete = try complete(root) else { return try receiving[root]?.read(index) }
        guard complete.list.hashes.indices.contains(index) else { return nil }
        let bytes = try asBlobError { () throws(SystemCallError) in try complete.chunks.read(index) }
        if Chunks.hash(bytes) == complete.list.hashes[index] { return bytes }
        try demote(root)
        throw .damaged(root)
    }

    /// Forgets what came of a blob that isn't complete.
    public func abandon(_ root: BlobRoot) {
        dispatchPrecondition(condition: .onQueue(queue))
        receiving[root] = nil
        if contains(root) { return }
        for name in [root.partName, root.hashesName] { try? directory.remove(name) }
    }

    // MARK: - Files

    func size(ofComplete root: BlobRoot) throws(BlobError) -> UInt64? {
        let status = try asBlobError { () throws(SystemCallError) in try directory.status(of: root.name) }
        return status?.isRegular == true ? status?.size : nil
    }

    /// Opens a complete blob, or finds it open; `nil` if it isn't here.
    func complete(_ root: BlobRoot) throws(BlobError) -> Complete? {
        if let known = open[root] { return known }
        guard let size = try size(ofComplete: root) else { return nil }
        let chunks = try asBlobError { () throws(SystemCallError) in
            Chunks(file: try directory.open(root.name, O_RDONLY), size: size, subject: "\(directory.path)/\(root)")
        }
        var list = try savedHashes(of: root)
        if list == nil { list = try computedHashes(of: chunks, root) }
        guard let list, list.size == size else {
            try demote(root)
            return nil
        }
        if open.count >= Self.maximumOpen { open = [:] }
        let complete = Complete(chunks: chunks, list: list)
        open[root] = complete
        return complete
    }

    /// A blob that was complete and isn't any more: what is good of it is kept.
    func demote(_ root: BlobRoot) throws(BlobError) {
        open[root] = nil
        try asBlobError { () throws(SystemCallError) in try directory.rename(root.name, to: root.partName) }
    }

    /// The list that was saved; one that doesn't belong to the root is removed.
    func savedHashes(of root: BlobRoot) throws(BlobError) -> BlobHashList? {
        try asBlobError { () throws(SystemCallError) in
            guard let file = try directory.openIfPresent(root.hashesName) else { return nil }
            let subject = "\(directory.path)/\(root.hashesName)"
            let chunks = Chunks(file: file, size: try FileStatus(of: file, subject).size, subject: subject)
            var bytes: [UInt8] = []
            if chunks.size <= BlobHashList.maximumLength {
                for index in 0..<chunks.count { bytes += try chunks.read(index) }
            }
            if let list = BlobHashList(decoding: bytes), list.root == root { return list }
            try directory.remove(root.hashesName)
            return nil
        }
    }

    func save(_ list: BlobHashList) throws(BlobError) {
        try asBlobError { () throws(SystemCallError) in
            let file = try TemporaryFile(in: directory)
            let bytes = list.encoded
            let chunks = Chunks(
                file: file.descriptor, size: UInt64(bytes.count), subject: "\(directory.path)/\(list.root.hashesName)")
            try chunks.write(bytes, at: 0)
            _ = try file.publish(as: list.root.hashesName)
        }
    }

    private func computedHashes(of chunks: Chunks, _ root: BlobRoot) throws(BlobError) -> BlobHashList? {
        let hashes = try asBlobError { () throws(SystemCallError) in
            try (0..<chunks.count).map { index throws(SystemCallError) in Chunks.hash(try chunks.read(index)) }
        }
        let list = BlobHashList(size: chunks.size, hashes: hashes)
        guard list.root == root else { return nil }
        try save(list)
        return list
    }
}

extension BlobRoot {
    var name: String { description }
    var partName: String { "\(description).part" }
    var hashesName: String { "\(description).hashes" }
}
