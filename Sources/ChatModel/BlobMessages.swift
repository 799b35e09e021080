public import Identity

/// How far a receiver is with a blob, which moves the sender's bar; or its sender's word that an image is cancelled.
///
/// On the chat link.
public struct BlobState: Hashable, Sendable {
    /// Whether the receiver goes on.
    public enum Progress: Hashable, Sendable {
        /// So many bytes are verified and on its disk; all of them: done.
        case verified(UInt64)
        /// It won't have the blob; why, in words for a person.
        case refused(String)
        /// Whose image of this blob it is has cancelled that: nobody shall fetch the blob for it.
        case withdrawn(EventID)
    }

    public var root: BlobRoot
    public var progress: Progress

    public init(root: BlobRoot, progress: Progress) {
        self.root = root
        self.progress = progress
    }

    var encoded: [UInt8] {
        var bytes = root.digest.bytes
        switch progress {
        case .verified(let count):
            bytes.append(0)
            bytes.append(bigEndian: count)
        case .refused(let reason):
            bytes.append(1)
            bytes.append(short: reason)
        case .withdrawn(let id):
            bytes.append(2)
            bytes += id.digest.bytes
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        root = BlobRoot(try reader.bytes32())
        switch try reader.byte() {
        case 0: progress = .verified(try reader.integer())
        case 1: progress = .refused(try reader.text(Int(reader.byte()), "the reason"))
        case 2: progress = .withdrawn(EventID(try reader.bytes32()))
        default: throw .invalid(what: "the kind of a blob's state")
        }
        try reader.finish()
    }
}

/// A request on the blob link: for a page of chunk hashes, or for a chunk.
public struct BlobWant: Hashable, Sendable {
    /// Which part of the blob.
    public enum Part: Hashable, Sendable {
        /// The hashes of chunks 1,024 × page and following.
        case hashes(page: UInt32)
        /// The bytes of a chunk.
        case chunk(UInt32)
    }

    public var root: BlobRoot
    public var part: Part

    public init(root: BlobRoot, part: Part) {
        self.root = root
        self.part = part
    }

    var encoded: [UInt8] {
        var bytes = root.digest.bytes
        switch part {
        case .hashes(let page):
            bytes.append(0)
            bytes.append(bigEndian: page)
        case .chunk(let index):
            bytes.append(1)
            bytes.append(bigEndian: index)
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        root = BlobRoot(try reader.bytes32())
        part = try reader.flag() ? .chunk(try reader.integer()) : .hashes(page: try reader.integer())
        try reader.finish()
    }
}

/// A page of a blob's chunk hashes.
public struct BlobHashes: Hashable, Sendable {
    public static let pageLength = 1_024  // hashes

    public var root: BlobRoot
    public var page: UInt32
    public var hashes: [Bytes32]

    public init(root: BlobRoot, page: UInt32, hashes: [Bytes32]) {
        self.root = root
        self.page = page
        self.hashes = hashes
    }

    var encoded: [UInt8] {
        var bytes = root.digest.bytes
        bytes.append(bigEndian: page)
        for hash in hashes { bytes += hash.bytes }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        root = BlobRoot(try reader.bytes32())
        page = try reader.integer()
        guard reader.remaining <= Self.pageLength * 32 else { throw .invalid(what: "the count of hashes") }
        var hashes: [Bytes32] = []
        while reader.remaining > 0 { hashes.append(try reader.bytes32()) }
        self.hashes = hashes
    }
}

/// A piece of a chunk.
///
/// The pieces of one chunk come in order and without gaps.
public struct BlobData: Hashable, Sendable {
    public static let pieceLength = 32 * 1024  // bytes; the last piece of a blob may be shorter

    public var root: BlobRoot
    public var chunk: UInt32
    /// Within the chunk, in bytes.
    public var offset: UInt32
    public var bytes: [UInt8]

    public init(root: BlobRoot, chunk: UInt32, offset: UInt32, bytes: [UInt8]) {
        self.root = root
        self.chunk = chunk
        self.offset = offset
        self.bytes = bytes
    }

    var encoded: [UInt8] {
        var encoded = root.digest.bytes
        encoded.reserveCapacity(40 + bytes.count)
        encoded.append(bigEndian: chunk)
        encoded.append(bigEndian: offset)
        return encoded + bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        root = BlobRoot(try reader.bytes32())
        chunk = try reader.integer()
        offset = try reader.integer()
        self.bytes = try reader.take(reader.remaining)
        guard !self.bytes.isEmpty, self.bytes.count <= Self.pieceLength,
            Int(offset) + self.bytes.count <= BlobRoot.chunkLength
        else { throw .invalid(what: "a piece's place") }
    }
}

/// The answer to a ``BlobWant`` that can't be met.
public struct BlobMissing: Hashable, Sendable {
    public var root: BlobRoot
    public init(root: BlobRoot) { self.root = root }
}
