import FoundationEssentials

/// One JSON object a line, in printable characters only.
enum JSONLine {
    /// Encodes to one line with its end.
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return escape(Array(try encoder.encode(value))) + [0x0A]
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from line: some Sequence<UInt8>) throws -> Value {
        try JSONDecoder().decode(type, from: Data(line))
    }

    /// Writes as an escape what a terminal could act on (RFC 8259, section 7); all of it is in strings.
    private static func escape(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.allSatisfy({ $0 < 0x7F }) { return bytes }
        var escaped: [UInt8] = []
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if isPrintable(scalar) {
                escaped += Array(String(scalar).utf8)
            } else {
                for unit in String(scalar).utf16 { escaped += hexadecimalEscape(unit) }
            }
        }
        return escaped
    }

    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        default: return true
        }
    }

    static func hexadecimalEscape(_ unit: UInt16) -> [UInt8] {
        let digits = String(unit, radix: 16)
        return Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    }
}

/// Any encodable value as one line of JSON with its end, non-printable characters escaped.
public func jsonLine(_ value: some Encodable) throws -> [UInt8] { try JSONLine.encode(value) }
