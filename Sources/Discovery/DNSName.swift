/// A domain name as its labels, without the root.
struct DNSName: Equatable, Sendable {
    let labels: [[UInt8]]

    static let local = DNSName(labels: [Array("local".utf8)])

    init(labels: [[UInt8]]) { self.labels = labels }

    init(_ labels: String...) { self.labels = labels.map { Array($0.utf8) } }

    /// Parses the text form, in which a dot ends a label, `\.` and `\\` stand for themselves and `\DDD` for any byte
    /// (RFC 1035, 5.1).
    ///
    /// - Returns: `nil` for an empty name or label, a label over 63 bytes, or a malformed escape.
    init?(parsing text: some StringProtocol) {
        var labels: [[UInt8]] = [[]]
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "."): if !rest.isEmpty { labels.append([]) }
            case UInt8(ascii: "\\"):
                guard let escaped = Self.unescape(&rest) else { return nil }
                labels[labels.count - 1].append(escaped)
            default: labels[labels.count - 1].append(byte)
            }
        }
        guard labels.allSatisfy({ 1...InstanceName.maximumLength ~= $0.count }) else { return nil }
        self.labels = labels
    }

    /// Takes what follows a backslash.
    private static func unescape(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        guard let first = rest.popFirst() else { return nil }
        guard isDigit(first) else { return first }
        let digits = [first] + rest.prefix(2)
        guard digits.count == 3, digits.allSatisfy(isDigit) else { return nil }
        rest.removeFirst(2)
        return UInt8(exactly: digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// The text form; every byte but letters, digits, `-` and `_` is escaped.
    var text: String {
        labels.map { label in label.map(Self.escape).joined() }.joined(separator: ".")
    }

    private static func escape(_ byte: UInt8) -> String {
        let character = Character(UnicodeScalar(byte))
        let isPlain = byte < 128 && (character.isLetter || character.isNumber || "-_".contains(character))
        return isPlain
            ? String(character) : "\\" + String(repeating: "0", count: byte < 10 ? 2 : byte < 100 ? 1 : 0) + "\(byte)"
    }

    /// Length-prefixed labels and the root, uncompressed (RFC 1035, 3.1).
    var wire: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }

    static func + (left: DNSName, right: DNSName) -> DNSName { DNSName(labels: left.labels + right.labels) }
}
