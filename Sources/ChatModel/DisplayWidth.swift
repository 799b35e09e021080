/// How many columns of a terminal text takes, counted by grapheme cluster, as terminals draw them.
public enum DisplayWidth {
    /// 0 for what shows nothing, 2 for wide East Asian characters and emoji, else 1 for each base.
    public static func columns(of cluster: Character) -> Int {
        if let ascii = cluster.asciiValue { return ascii < 0x20 || ascii == 0x7F ? 0 : 1 }
        let scalars = cluster.unicodeScalars
        if let first = scalars.first, isEmoji(first, scalars) { return 2 }
        return scalars.reduce(0) { $0 + columns(of: $1) }
    }

    public static func columns(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text, or as many whole clusters as fit before an ellipsis.
    public static func truncated(_ text: String, to limit: Int) -> String {
        if columns(of: text) <= limit { return text }
        if limit < 1 { return "" }
        return String(prefix(of: text, columns: limit - 1)) + "…"
    }

    /// As many whole clusters from the front as fit.
    public static func prefix<Text: StringProtocol>(of text: Text, columns limit: Int) -> Text.SubSequence {
        var used = 0
        var index = text.startIndex
        while index < text.endIndex {
            used += columns(of: text[index])
            if used > limit { break }
            index = text.index(after: index)
        }
        return text[..<index]
    }

    /// The text, truncated or filled with spaces to exactly `width` columns.
    public static func padded(_ text: String, to width: Int) -> String {
        let fitting = truncated(text, to: width)
        return fitting + String(repeating: " ", count: max(0, width - columns(of: fitting)))
    }

    private static func isEmoji(_ first: Unicode.Scalar, _ cluster: String.UnicodeScalarView) -> Bool {
        guard first.properties.isEmoji else { return false }
        return first.properties.isEmojiPresentation || cluster.contains { $0.value == 0xFE0F }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .control, .nonspacingMark, .enclosingMark, .spacingMark, .lineSeparator, .paragraphSeparator: return 0
        case .format where scalar.properties.isDefaultIgnorableCodePoint: return 0
        default: break
        }
        if scalar.properties.isDefaultIgnorableCodePoint { return 0 }
        if isTrailingJamo(scalar.value) { return 0 }
        return isWide(scalar.value) ? 2 : 1
    }

    /// Vowels and finals of conjoining Hangul, drawn into the syllable of the leading consonant.
    private static func isTrailingJamo(_ value: UInt32) -> Bool {
        (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value)
    }

    /// East_Asian_Width W or F (Unicode Standard Annex 11); emoji presentation is asked apart.
    private static func isWide(_ value: UInt32) -> Bool {
        if value < 0x1100 { return false }
        return wide.contains { $0.contains(value) }
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D8F,
        0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}
