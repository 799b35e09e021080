/// Text from elsewhere as a terminal or a log may show it: the only way there for names, messages and reasons.
///
/// What a terminal could act on, what reorders text and what can't be seen is written as an escape, such as `\x1b` or
/// `\u{202e}`, so that nothing is changed in silence. Scripts of all directions, combining marks and joined emoji stay
/// as they are. The text isn't normalised: what people copy is what was sent.
public enum SafeText {
    /// Clusters of a name that are shown.
    public static let maximumNameLength = 32
    /// Lines of a text that are shown.
    public static let maximumLines = 200
    /// Combining marks shown on one base.
    public static let maximumMarks = 4

    /// For a place that has one line: line ends and tabs are escaped too.
    public static func line(_ text: String) -> String { rendered(text.unicodeScalars, keeping: []) }

    /// For a place that has many lines: LF and CR LF end one, tabs stay.
    ///
    /// Whoever prints it indents all but the first, so that none looks like a line of its own.
    /// - Returns: At most 201 lines; the last one then says how many more there are.
    public static func block(_ text: String) -> [String] {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        var shown = lines.prefix(maximumLines).map { line in
            rendered(line.last == "\r" && lines.count > 1 ? line.dropLast() : line, keeping: ["\t"])
        }
        if lines.count > maximumLines { shown.append("[\(lines.count - maximumLines) more lines]") }
        return shown
    }

    /// A display or file name: one line, cut at 32 clusters.
    public static func name(_ name: String) -> String {
        let safe = line(name)
        return safe.count > maximumNameLength ? safe.prefix(maximumNameLength - 1) + "…" : safe
    }

    // MARK: Scalars

    private static func rendered(
        _ text: some BidirectionalCollection<Unicode.Scalar>, keeping kept: Set<Unicode.Scalar>
    ) -> String {
        var shown = String.UnicodeScalarView()
        var marks = 0
        var previous: Unicode.Scalar?
        var index = text.startIndex
        while index != text.endIndex {
            let scalar = text[index]
            index = text.index(after: index)
            let next = index == text.endIndex ? nil : text[index]
            marks = isMark(scalar) ? marks + 1 : 0
            if marks > maximumMarks {
                if marks == maximumMarks + 1 { shown.append(contentsOf: "\\u{…}".unicodeScalars) }
            } else if kept.contains(scalar) || isHarmless(scalar, after: previous, before: next) {
                shown.append(scalar)
            } else {
                shown.append(contentsOf: escape(scalar).unicodeScalars)
            }
            previous = scalar
        }
        return String(shown)
    }

    private static func isHarmless(
        _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?
    ) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        if scalar == zeroWidthJoiner || scalar == zeroWidthNonJoiner {
            return joins(scalar, previous, next)
        }
        if scalar.properties.isVariationSelector { return previous != nil }
        if scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isNoncharacterCodePoint { return false }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return false
        case .format: return !(0xFFF9...0xFFFB).contains(scalar.value)  // the others are visible signs
        default: return true
        }
    }

    /// Whether a joiner does its work here: between emoji, or between letters of a script that needs it.
    private static func joins(
        _ joiner: Unicode.Scalar, _ previous: Unicode.Scalar?, _ next: Unicode.Scalar?
    ) -> Bool {
        guard let previous, let next else { return false }
        if isJoinable(previous), isJoinable(next) { return true }
        return joiner == zeroWidthJoiner && next.properties.isEmoji && !next.isASCII && endsEmoji(previous)
    }

    private static func isJoinable(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x0590 && (scalar.properties.isAlphabetic || isMark(scalar))
            && !scalar.properties.isVariationSelector && !scalar.properties.isDefaultIgnorableCodePoint
    }

    private static func endsEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xFE0F || (scalar.properties.isEmoji && !scalar.isASCII)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        guard scalar.value < 0x100 else { return "\\u{\(digits)}" }
        return digits.count < 2 ? "\\x0\(digits)" : "\\x\(digits)"
    }

    private static let zeroWidthJoiner: Unicode.Scalar = "\u{200D}"
    private static let zeroWidthNonJoiner: Unicode.Scalar = "\u{200C}"
}
