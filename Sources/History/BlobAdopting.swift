public import ChatModel
import Dispatch
import Identity
public import SystemCalls

/// A file that was taken into the store, and what its first bytes say about it.
public struct AdoptedBlob: Hashable, Sendable {
    public var root: BlobRoot
    /// In bytes.
    public var size: UInt64
    public var mediaType: String
    /// In pixels; 0 if unknown.
    public var width: UInt32
    /// In pixels; 0 if unknown.
    public var height: UInt32
}

extension BlobStore {
    /// Takes a snapshot of an open file into the store; what is written to the file later doesn't show in it.
    ///
    /// The descriptor may be shared: its position is neither used nor moved.
    ///
    /// - Parameters:
    ///   - source: Open for reading.
    ///   - progress: Told after each chunk how many bytes are done.
    /// - Returns: The blob, complete and on the disk.
    /// - Throws: `notRegular`, `changed` if somebody wrote to it meanwhile, `tooLarge`, `full`, `io`.
    public func adopt(
        _ source: Descriptor, progress: (UInt64) -> Void = { _ in }
    ) throws(BlobError) -> AdoptedBlob {
        dispatchPrecondition(condition: .onQueue(queue))
        let before = try status(of: source)
        guard before.isRegular else { throw .notRegular }
        let copy = try asBlobError { () throws(SystemCallError) in try TemporaryFile(in: directory) }
        let isCloned = clone(source.number, to: copy.descriptor.number)
        let size = isCloned ? try status(of: copy.descriptor).size : before.size
        if size > ImageInfo.maximumSize { throw .tooLarge(size) }
        let (list, header) = try snapshot(of: source, size: size, in: copy, isCloned: isCloned, progress)
        if !isCloned, try hasChanged(source, since: before) { throw .changed }
        try keep(copy, list)
        return AdoptedBlob(
            root: list.root, size: size, mediaType: header.mediaType, width: header.width, height: header.height)
    }

    private func hasChanged(_ file: Descriptor, since before: FileStatus) throws(BlobError) -> Bool {
        let now = try status(of: file)
        return now.size != before.size || now.modified != before.modified
    }

    private func status(of file: Descriptor) throws(BlobError) -> FileStatus {
        try asBlobError { () throws(SystemCallError) in try FileStatus(of: file, "the file") }
    }

    private func snapshot(
        of source: Descriptor, size: UInt64, in copy: TemporaryFile, isCloned: Bool, _ progress: (UInt64) -> Void
    ) throws(BlobError) -> (BlobHashList, ImageHeader) {
        let original = Chunks(file: isCloned ? copy.descriptor : source, size: size, subject: "the file")
        let target = Chunks(file: copy.descriptor, size: size, subject: directory.path)
        var header = ImageHeader(front: [])
        var hashes: [Bytes32] = []
        var done: UInt64 = 0
        for index in 0..<original.count {
            let bytes = try asBlobError { () throws(SystemCallError) in try original.read(index) }
            if bytes.count < BlobRoot.length(ofChunk: index, size: size) { throw .changed }
            if !isCloned { try asBlobError { () throws(SystemCallError) in try target.write(bytes, at: index) } }
            if index == 0 { header = ImageHeader(front: bytes) }
            hashes.append(Chunks.hash(bytes))
            done += UInt64(bytes.count)
            progress(done)
        }
        return (BlobHashList(size: size, hashes: hashes), header)
    }

    /// The hashes go first: a complete blob has them, unless a crash takes them.
    private func keep(_ copy: TemporaryFile, _ list: BlobHashList) throws(BlobError) {
        try save(list)
        try asBlobError { () throws(SystemCallError) in
            _ = try copy.publish(as: list.root.name)  // a blob that is there already is the same one
            try directory.synchronize()
            try directory.remove(list.root.partName)
        }
        receiving[list.root] = nil
    }
}
