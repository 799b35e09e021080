public import Identity

/// A blob's name: a hash over its size and the hashes of its 1 MiB chunks.
public struct BlobRoot: Hashable, Comparable, Sendable, CustomStringConvertible {
    public static let chunkLength = 1 << 20  // bytes

    public let digest: Bytes32
    public init(_ digest: Bytes32) { self.digest = digest }
    public static func < (left: BlobRoot, right: BlobRoot) -> Bool { left.digest < right.digest }

    /// The root over a blob's size in bytes and its chunks' SHA-256 hashes in order; none for an empty blob.
    public init(size: UInt64, chunkHashes: [Bytes32]) {
        var bytes = Array("groupchat-blob-v1\0".utf8)
        bytes.append(bigEndian: size)
        for hash in chunkHashes { bytes += hash.bytes }
        digest = SHA256.digest(of: bytes)
    }

    /// Parses 64 hexadecimal digits.
    public init?(hexadecimal text: some StringProtocol) {
        guard let digest = Bytes32(hexadecimal: text) else { return nil }
        self.digest = digest
    }

    /// 64 lower-case hexadecimal digits.
    public var description: String { digest.hexadecimal }

    /// How many chunks a blob of `size` bytes has.
    public static func chunkCount(size: UInt64) -> Int {
        Int(size / UInt64(chunkLength)) + (size.isMultiple(of: UInt64(chunkLength)) ? 0 : 1)
    }

    /// How many bytes chunk `index` of a blob of `size` bytes has; 0 for a chunk that it hasn't.
    public static func length(ofChunk index: Int, size: UInt64) -> Int {
        guard index >= 0, index < chunkCount(size: size) else { return 0 }
        return Int(min(size - UInt64(index) * UInt64(chunkLength), UInt64(chunkLength)))
    }
}

/// What an image's event says about it.
public struct ImageInfo: Hashable, Sendable {
    public static let maximumSize: UInt64 = 1 << 40  // bytes

    /// As the author called it: a label, never a path (``Names/fileName(forImageNamed:)``).
    public var name: String
    /// Such as `image/png` (RFC 6838).
    public var mediaType: String
    /// In bytes.
    public var size: UInt64
    /// In pixels; 0 if unknown.
    public var width: UInt32
    /// In pixels; 0 if unknown.
    public var height: UInt32
    public var root: BlobRoot

    public init(name: String, mediaType: String, size: UInt64, width: UInt32, height: UInt32, root: BlobRoot) {
        self.name = name
        self.mediaType = mediaType
        self.size = size
        self.width = width
        self.height = height
        self.root = root
    }
}

/// What an event's body says; begins with the author's display name as it was then.
public enum EventBody: Hashable, Sendable {
    case text(String)
    case image(ImageInfo)

    public static let maximumTextLength = 16 * 1024  // bytes

    public var kind: EventKind {
        switch self {
        case .text: .text
        case .image: .image
        }
    }

    public func encoded(authorName: String) -> [UInt8] {
        var bytes: [UInt8] = []
        if case .text(let text) = self { bytes.reserveCapacity(1 + authorName.utf8.count + text.utf8.count) }
        bytes.append(short: authorName)
        switch self {
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .image(let image):
            bytes.append(short: image.name)
            bytes.append(short: image.mediaType)
            bytes.append(bigEndian: image.size)
            bytes.append(bigEndian: image.width)
            bytes.append(bigEndian: image.height)
            bytes += image.root.digest.bytes
        }
        return bytes
    }

    /// Takes apart a body of a known kind.
    ///
    /// - Returns: `nil` for a kind that this version doesn't know.
    /// - Throws: What is wrong with the body; the event counts all the same, and is shown as unreadable.
    public static func decode(
        _ kind: EventKind, _ bytes: [UInt8]
    ) throws(WireError) -> (authorName: String, body: EventBody)? {
        var former = FormerName()
        return try decode(kind, bytes[...], &former)
    }

    /// A name that was found good, with which the next body may begin too.
    struct FormerName {
        fileprivate var body: ArraySlice<UInt8> = []
        /// Of the name and its length in ``body``.
        fileprivate var length = 0
        fileprivate var name = ""

        fileprivate func begins(_ other: ArraySlice<UInt8>) -> Bool {
            guard length > 0, other.count >= length else { return false }
            return body.withUnsafeBytes { one in
                other.withUnsafeBytes { two in one[..<length].elementsEqual(two[..<length]) }
            }
        }
    }

    /// Takes apart a body that may begin with the same name as the one before; else as ``decode(_:_:)``.
    static func decode(
        _ kind: EventKind, _ bytes: ArraySlice<UInt8>, _ former: inout FormerName
    ) throws(WireError) -> (authorName: String, body: EventBody)? {
        guard kind == .text || kind == .image else { return nil }
        var reader = ByteReader(bytes)
        let name: String
        if former.begins(bytes) {
            name = former.name
            try reader.skip(former.length)
        } else {
            name = try reader.text(Int(reader.byte()), "the author's name")
            if let complaint = Names.complaint(displayName: name) { throw .invalid(what: complaint) }
            former = FormerName(body: bytes, length: reader.taken, name: name)
        }
        if kind == .text {
            if reader.remaining > maximumTextLength {
                throw .tooLong(what: "text", length: reader.remaining, limit: maximumTextLength)
            }
            return (name, .text(try reader.text(reader.remaining, "the text")))
        }
        let image = try image(&reader)
        try reader.finish()
        return (name, .image(image))
    }

    private static func image(_ reader: inout ByteReader) throws(WireError) -> ImageInfo {
        let image = ImageInfo(
            name: try reader.text(Int(reader.byte()), "the image's name"),
            mediaType: try reader.text(Int(reader.byte()), "the media type"), size: try reader.integer(),
            width: try reader.integer(), height: try reader.integer(), root: BlobRoot(try reader.bytes32()))
        if image.size > ImageInfo.maximumSize { throw .invalid(what: "the image's size") }
        return image
    }
}
