/// What the first bytes of a file say about the image in it.
///
/// Only headers are read: nothing is decoded, and no bytes, however hostile, make it fail.
public struct ImageHeader: Hashable, Sendable {
    /// As in IANA's registry; `application/octet-stream` for what is none of PNG, JPEG, GIF and WebP.
    public var mediaType: String
    /// In pixels; 0 if the bytes don't tell.
    public var width: UInt32
    /// In pixels; 0 if the bytes don't tell.
    public var height: UInt32

    /// Reads the front of a file: 32 bytes are enough but for JPEG, whose size follows its metadata.
    public init(front bytes: [UInt8]) {
        let front = Front(bytes: bytes)
        let (mediaType, size) = Self.read(front)
        self.mediaType = mediaType
        width = size?.width ?? 0
        height = size?.height ?? 0
    }

    private typealias Size = (width: UInt32, height: UInt32)

    private static func read(_ front: Front) -> (mediaType: String, size: Size?) {
        if front.has([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], at: 0) { return ("image/png", png(front)) }
        if front.has([0xff, 0xd8, 0xff], at: 0) { return ("image/jpeg", jpeg(front)) }
        if front.has("GIF87a", at: 0) || front.has("GIF89a", at: 0) { return ("image/gif", gif(front)) }
        if front.has("RIFF", at: 0) && front.has("WEBP", at: 8) { return ("image/webp", webp(front)) }
        return ("application/octet-stream", nil)
    }

    /// The header chunk comes first (PNG, 11.2.2).
    private static func png(_ front: Front) -> Size? {
        guard front.has([0, 0, 0, 13], at: 8), front.has("IHDR", at: 12) else { return nil }
        return size(front.big(4, at: 16), front.big(4, at: 20))
    }

    /// Walks the marker segments to the frame header (ITU T.81, B.1 and B.2.2).
    private static func jpeg(_ front: Front) -> Size? {
        var position = 2
        while let mark = front.byte(position), mark == 0xff, let marker = front.byte(position + 1) {
            switch marker {
            case 0xff: position += 1  // fill byte
            case 0x01, 0xd0...0xd8: position += 2  // stands alone
            case 0xd9, 0xda: return nil  // end of image, start of scan
            case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker):
                return size(front.big(2, at: position + 7), front.big(2, at: position + 5))
            default:
                guard let length = front.big(2, at: position + 2), length >= 2 else { return nil }
                position += 2 + Int(length)
            }
        }
        return nil
    }

    /// The logical screen (GIF89a, 18).
    private static func gif(_ front: Front) -> Size? { size(front.little(2, at: 6), front.little(2, at: 8)) }

    /// The first chunk says which of three kinds of stream follows (RFC 9649, 2.5 to 2.7).
    private static func webp(_ front: Front) -> Size? {
        if front.has("VP8X", at: 12) {
            return size(front.little(3, at: 24).map { $0 + 1 }, front.little(3, at: 27).map { $0 + 1 })
        }
        if front.has("VP8L", at: 12) {
            guard front.byte(20) == 0x2f, let bits = front.little(4, at: 21) else { return nil }
            return (bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        }
        guard front.has("VP8 ", at: 12), front.has([0x9d, 0x01, 0x2a], at: 23) else { return nil }
        return size(front.little(2, at: 26).map { $0 & 0x3fff }, front.little(2, at: 28).map { $0 & 0x3fff })
    }

    private static func size(_ width: UInt32?, _ height: UInt32?) -> Size? {
        guard let width, let height else { return nil }
        return (width, height)
    }
}

/// Bytes that can be asked about any place, also one past their end.
private struct Front {
    let bytes: [UInt8]

    func byte(_ position: Int) -> UInt8? { bytes.indices.contains(position) ? bytes[position] : nil }

    func has(_ expected: [UInt8], at position: Int) -> Bool {
        position <= bytes.count && bytes[position...].starts(with: expected)
    }

    func has(_ expected: StaticString, at position: Int) -> Bool { has(Array("\(expected)".utf8), at: position) }

    /// An integer of at most four bytes, most significant first.
    func big(_ width: Int, at position: Int) -> UInt32? {
        guard position + width <= bytes.count else { return nil }
        return bytes[position..<position + width].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// An integer of at most four bytes, least significant first.
    func little(_ width: Int, at position: Int) -> UInt32? {
        guard position + width <= bytes.count else { return nil }
        return bytes[position..<position + width].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
