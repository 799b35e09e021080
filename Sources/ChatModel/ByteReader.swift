import Identity

/// Why bytes from a peer or from the disk were not taken.
public enum WireError: Error, Equatable, CustomStringConvertible {
    case truncated
    case trailingBytes(Int)
    case tooLong(what: String, length: Int, limit: Int)
    case notUTF8(what: String)
    case invalid(what: String)

    public var description: String {
        switch self {
        case .truncated: "the message ends too early"
        case .trailingBytes(let count): "\(count) bytes too many"
        case .tooLong(let what, let length, let limit): "\(what) of \(length); the limit is \(limit)"
        case .notUTF8(let what): "\(what) is not UTF-8"
        case .invalid(let what): "\(what) is not valid"
        }
    }
}

/// Reads fixed-width fields off the front of bytes, most significant byte first; never past their end.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
        end = bytes.endIndex
    }

    /// How many bytes were read.
    var taken: Int { position - bytes.startIndex }
    var remaining: Int { end - position }

    mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _: Value.Type = Value.self
    ) throws(WireError) -> Value {
        let width = MemoryLayout<Value>.size
        guard remaining >= width else { throw .truncated }
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: taken, as: Value.self) }
        position += width
        return Value(bigEndian: value)
    }

    mutating func byte() throws(WireError) -> UInt8 {
        guard remaining >= 1 else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func take(_ count: Int) throws(WireError) -> [UInt8] { Array(try slice(count)) }

    /// Bytes in place: they keep all that is read from.
    mutating func slice(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        guard count >= 0, remaining >= count else { throw .truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func skip(_ count: Int) throws(WireError) {
        guard count >= 0, remaining >= count else { throw .truncated }
        position += count
    }

    mutating func bytes32() throws(WireError) -> Bytes32 {
        guard remaining >= 32, let value = Bytes32(bytes[position..<position + 32]) else { throw .truncated }
        position += 32
        return value
    }

    mutating func peer() throws(WireError) -> PeerID {
        guard let peer = PeerID(try take(32)) else { throw .invalid(what: "a peer's key") }
        return peer
    }

    mutating func text(_ count: Int, _ what: String) throws(WireError) -> String {
        guard count >= 0, remaining >= count else { throw .truncated }
        let text: String
        do {
            text = String(copying: try UTF8Span(validating: bytes[position..<position + count].span))
        } catch { throw .notUTF8(what: what) }
        position += count
        return text
    }

    func finish() throws(WireError) {
        if remaining > 0 { throw .trailingBytes(remaining) }
    }
}

extension UInt64 {
    /// The sum, or the largest number there is.
    func adding(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}

extension [UInt8] {
    /// Appends a text behind its length; what is longer than 255 bytes is cut between two characters.
    mutating func append(short text: String) {
        var text = text
        while text.utf8.count > 255 { text.removeLast() }
        append(UInt8(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
