import Identity

/// Writes what a busy daemon says most often, byte for byte as ``JSONLine/encode(_:)`` does, in a fraction of the time.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// Goes on behind bytes, and takes them.
    init(continuing bytes: inout [UInt8]) { swap(&self.bytes, &bytes) }

    mutating func reserve(_ length: Int) { bytes.reserveCapacity(length) }

    mutating func append(raw more: [UInt8]) { bytes += more }

    mutating func append(digitsOf value: Bytes32) { bytes.append(hexadecimal: value) }

    mutating func append(_ literal: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ number: Int) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var (rest, digits, count) = (number.magnitude, UInt64(0), 0)
        while rest >= 10, count < 7 {
            digits = digits << 8 | UInt64(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
            count += 1
        }
        if rest >= 10 {
            append(more: rest)
        } else {
            bytes.append(UInt8(ascii: "0") + UInt8(rest))
        }
        for _ in 0..<count {
            bytes.append(UInt8(truncatingIfNeeded: digits))
            digits >>= 8
        }
    }

    /// The digits in front of the last seven.
    private mutating func append(more number: UInt) { append(Int(number)) }

    /// Appends a string in its quotes.
    mutating func append(_ text: String) {
        bytes.append(quote)
        let isCopied = text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard Self.standForThemselves(utf8) else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        if isCopied != true { for scalar in text.unicodeScalars { append(scalar) } }
        bytes.append(quote)
    }

    private var quote: UInt8 { UInt8(ascii: "\"") }

    /// Whether all are printable ASCII that needs no escape; looks at each, which goes many at a time.
    static func standForThemselves(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var odd: UInt8 = 0
        for byte in bytes {
            let isOdd = byte &- 0x20 >= 0x5F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            odd |= isOdd ? 1 : 0
        }
        return odd == 0
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": append("\\\"" as StaticString)
        case "\\": append("\\\\" as StaticString)
        case "\u{8}": append("\\b" as StaticString)
        case "\u{c}": append("\\f" as StaticString)
        case "\n": append("\\n" as StaticString)
        case "\r": append("\\r" as StaticString)
        case "\t": append("\\t" as StaticString)
        default:
            if scalar.value >= 0x20, JSONLine.isPrintable(scalar) {
                bytes.append(contentsOf: scalar.utf8)
            } else {
                for unit in scalar.utf16 { bytes += JSONLine.hexadecimalEscape(unit) }
            }
        }
    }
}

extension JSONWriter {
    /// A notification about a row that has no image and doesn't say who has stored it.
    mutating func append(_ method: StaticString, _ line: LineView) {
        append("{\"jsonrpc\":\"2.0\",\"method\":\"" as StaticString)
        append(method)
        append("\",\"params\":{\"line\":{" as StaticString)
        if let ahead = line.ahead {
            append("\"ahead\":" as StaticString)
            append(ahead)
            append("," as StaticString)
        }
        append("\"author\":" as StaticString)
        append(line.author)
        field(",\"cursor\":", line.cursor)
        append(",\"direction\":" as StaticString)
        append(line.direction.rawValue)
        field(",\"id\":", line.id)
        append(",\"kind\":" as StaticString)
        append(line.kind.rawValue)
        if let late = line.late {
            append(",\"late\":" as StaticString)
            append(late)
        }
        if let missing = line.missing {
            append(",\"missing\":" as StaticString)
            append(missing)
        }
        append(",\"name\":" as StaticString)
        append(line.name)
        append(",\"suffix\":" as StaticString)
        append(line.suffix)
        field(",\"text\":", line.text)
        append(",\"time\":" as StaticString)
        append(line.time)
        field(",\"transfer\":", line.transfer)
        append("}}}\n" as StaticString)
    }

    private mutating func field(_ key: StaticString, _ value: String?) {
        guard let value else { return }
        append(key)
        append(value)
    }

    /// The answer to a `send`.
    mutating func append(_ result: SendResult, to id: RequestID) {
        beginAnswer(to: id)
        append(result.id)
        end(linked: result.linked, number: result.number)
    }

    /// The same, of an event.
    mutating func appendAnswer(to id: RequestID, _ event: Bytes32, number: Int, linked: Int) {
        beginAnswer(to: id)
        bytes.append(quote)
        append(digitsOf: event)
        bytes.append(quote)
        end(linked: linked, number: number)
    }

    private mutating func beginAnswer(to id: RequestID) {
        append("{\"id\":" as StaticString)
        switch id {
        case .number(let number): append(number)
        case .string(let text): append(text)
        case .null: append("null" as StaticString)
        }
        append(",\"jsonrpc\":\"2.0\",\"result\":{\"id\":" as StaticString)
    }

    private mutating func end(linked: Int, number: Int) {
        append(",\"linked\":" as StaticString)
        append(linked)
        append(",\"number\":" as StaticString)
        append(number)
        append("}}\n" as StaticString)
    }
}
