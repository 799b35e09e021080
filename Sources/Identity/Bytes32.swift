/// 32 bytes held in place: a public key or a SHA-256 digest.
///
/// Ordered as byte strings are, first byte first.
@frozen public struct Bytes32: Hashable, Comparable, Sendable {
    /// The bytes in four words, each most significant byte first.
    @usableFromInline let words: (UInt64, UInt64, UInt64, UInt64)

    public static let zero = Bytes32(words: (0, 0, 0, 0))

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// - Returns: `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        let words = bytes.withContiguousStorageIfAvailable { Self.words(of: UnsafeRawBufferPointer($0)) }
        self.words = words ?? Array(bytes).withUnsafeBytes(Self.words)
    }

    /// - Precondition: There are 32 bytes.
    private static func words(of bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        return (word(0), word(1), word(2), word(3))
    }

    /// Takes the bytes as they lie in memory.
    init(inMemory words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
    }

    /// Parses 64 hexadecimal digits, upper or lower case.
    public init?(hexadecimal text: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.init(bytes)
    }

    @inlinable public var bytes: [UInt8] { withBytes { Array($0) } }

    /// The bytes, without an array.
    @inlinable public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let bigEndian = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return withUnsafeBytes(of: bigEndian, body)
    }

    /// 64 lower-case hexadecimal digits.
    public var hexadecimal: String { withBytes { String(hexadecimal: $0) } }

    /// The 64 lower-case hexadecimal digits, without a string.
    @inlinable public func withHexadecimal<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        func digits(_ word: UInt64) -> (UInt64, UInt64) {
            let high = [UInt8].digits(of: UInt32(truncatingIfNeeded: word >> 32))
            let low = [UInt8].digits(of: UInt32(truncatingIfNeeded: word))
            return (high.bigEndian, low.bigEndian)
        }
        let all = (digits(words.0), digits(words.1), digits(words.2), digits(words.3))
        return withUnsafeBytes(of: all, body)
    }

    @inlinable public static func == (left: Bytes32, right: Bytes32) -> Bool { left.words == right.words }
    @inlinable public static func < (left: Bytes32, right: Bytes32) -> Bool { left.words < right.words }

    @inlinable public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.3)
    }
}

extension [UInt8] {
    /// Appends an integer, most significant byte first.
    @inlinable public mutating func append(bigEndian value: some FixedWidthInteger) {
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
    public var hexadecimal: String { withUnsafeBytes { String(hexadecimal: $0) } }

    /// Appends the 64 lower-case hexadecimal digits of `value`.
    @inlinable public mutating func append(hexadecimal value: Bytes32) {
        let words = value.words
        append(digitsOf: words.0)
        append(digitsOf: words.1)
        append(digitsOf: words.2)
        append(digitsOf: words.3)
    }

    @inlinable mutating func append(digitsOf word: UInt64) {
        append(bigEndian: Self.digits(of: UInt32(truncatingIfNeeded: word >> 32)))
        append(bigEndian: Self.digits(of: UInt32(truncatingIfNeeded: word)))
    }

    /// Eight digits in one word, made side by side.
    @inlinable static func digits(of half: UInt32) -> UInt64 {
        var nibbles = UInt64(half)
        nibbles = (nibbles << 16 | nibbles) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in each byte whose digit is a letter, for which adding 6 reaches 16.
        let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles + 0x3030_3030_3030_3030 + letters * 0x27
    }
}

extension String {
    /// Two lower-case hexadecimal digits a byte.
    init(hexadecimal bytes: UnsafeRawBufferPointer) {
        func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
        self.init(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }
}
