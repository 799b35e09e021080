/// Writes what a busy daemon says most often, byte for byte as ``JSONLine/encode(_:)`` does, in a fraction of the time.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ literal: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ number: Int) { bytes.append(contentsOf: String(number).utf8) }

    /// Appends a string in its quotes.
    mutating func append(_ text: String) {
        bytes.append(quote)
        let isCopied = text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard utf8.allSatisfy(Self.standsForItself) else { return false }
            bytes.append(contentsOf: utf8)
            return true
        }
        if isCopied != true { for scalar in text.unicodeScalars { append(scalar) } }
        bytes.append(quote)
    }

    private var quote: UInt8 { UInt8(ascii: "\"") }

    private static func standsForItself(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
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
        append("{\"id\":" as StaticString)
        switch id {
        case .number(let number): append(number)
        case .string(let text): append(text)
        case .null: append("null" as StaticString)
        }
        append(",\"jsonrpc\":\"2.0\",\"result\":{\"id\":" as StaticString)
        append(result.id)
        append(",\"linked\":" as StaticString)
        append(result.linked)
        append(",\"number\":" as StaticString)
        append(result.number)
        append("}}\n" as StaticString)
    }
}
