/// 32 bytes held in place: a public key or a SHA-256 digest.
///
/// Ordered as byte strings are, first byte first.
@frozen public struct Bytes32: Hashable, Comparable, Sendable {
    /// The bytes in four words, each most significant byte first.
    let words: (UInt64, UInt64, UInt64, UInt64)

    public static let zero = Bytes32(words: (0, 0, 0, 0))

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// - Returns: `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// Parses 64 hexadecimal digits, upper or lower case.
    public init?(hexadecimal text: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.init(bytes)
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for word in [words.0, words.1, words.2, words.3] { bytes.append(bigEndian: word) }
        return bytes
    }

    /// 64 lower-case hexadecimal digits.
    public var hexadecimal: String { bytes.hexadecimal }

    public static func == (left: Bytes32, right: Bytes32) -> Bool { left.words == right.words }
    public static func < (left: Bytes32, right: Bytes32) -> Bool { left.words < right.words }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.3)
    }
}

extension [UInt8] {
    /// Appends an integer, most significant byte first.
    public mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Parses pairs of hexadecimal digits, upper or lower case.
    ///
    /// - Returns: `nil` for an odd count or any other character.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            append(high << 4 | low)
        }
    }

    /// Two lower-case hexadecimal digits a byte.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
