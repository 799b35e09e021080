extension Names {
    /// What is left of a name when letters that look alike count as one: two names with one skeleton are easily mixed up.
    ///
    /// In the manner of Unicode UTS 39, section 4, with a table of our own: Cyrillic and Greek letters that look like
    /// Latin ones, full-width and mathematical letters, digits that pass for letters. Case, spaces at the ends and what
    /// can't be seen don't count. Only for comparing: a skeleton is never shown.
    public static func skeleton(of name: String) -> String {
        var skeleton = ""
        for scalar in name.unicodeScalars where !isUnseen(scalar) {
            for folded in unstyled(scalar).properties.lowercaseMapping.unicodeScalars where !isUnseen(folded) {
                append(folded, to: &skeleton)
            }
        }
        if skeleton.hasSuffix(" ") { skeleton.removeLast() }
        return skeleton
    }

    private static func append(_ scalar: Unicode.Scalar, to skeleton: inout String) {
        if scalar.properties.isWhitespace {
            if !skeleton.isEmpty, !skeleton.hasSuffix(" ") { skeleton.append(" ") }
            return
        }
        let shown = lookalikes[scalar] ?? scalar
        skeleton.unicodeScalars.append(shown)
        for (pair, letter) in pairs where skeleton.hasSuffix(pair) {
            skeleton.removeLast(pair.count)
            skeleton.append(letter)
        }
    }

    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20..<0x7f).contains(scalar.value) { return false }
        if scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isVariationSelector { return true }
        switch scalar.properties.generalCategory {
        case .control, .format: return true
        default: return false
        }
    }

    /// A full-width form, or a mathematical letter or digit, as the plain one.
    private static func unstyled(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0xFF01...0xFF5E: Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
        case 0x1D400...0x1D6A3: letter((scalar.value - 0x1D400) % 52) ?? scalar
        case 0x1D7CE...0x1D7FF: Unicode.Scalar(0x30 + (scalar.value - 0x1D7CE) % 10) ?? scalar
        default: scalar
        }
    }

    /// The letter at a place of A to Z, a to z.
    private static func letter(_ place: UInt32) -> Unicode.Scalar? {
        Unicode.Scalar(place < 26 ? 0x41 + place : 0x61 + place - 26)
    }

    /// Two letters that side by side look like one.
    private static let pairs: [(String, Character)] = [("rn", "m"), ("vv", "w")]

    /// By lower case; where only the capitals look alike both do count, as case doesn't.
    private static let lookalikes: [Unicode.Scalar: Unicode.Scalar] = {
        let groups: [(Unicode.Scalar, String)] = [
            ("a", "аαɑ"), ("b", "вьβ"), ("c", "сϲᴄ"), ("d", "ԁ"), ("e", "еεє"), ("g", "ɡ"), ("h", "нһη"),
            ("i", "іιıɩӏl1|ᛁǀ"), ("j", "јϳ"), ("k", "кκ"), ("m", "мμ"), ("n", "ν"), ("o", "оοσ0օ"), ("p", "рρ"),
            ("q", "ԛ"), ("r", "г"), ("s", "ѕꜱ"), ("t", "тτ"), ("w", "ԝω"), ("x", "хχ"), ("y", "уүγυ"), ("z", "ζ"),
            ("-", "‐‑‒–—―−_"), ("'", "’‘`´"),
        ]
        var table: [Unicode.Scalar: Unicode.Scalar] = [:]
        for (letter, others) in groups { for other in others.unicodeScalars { table[other] = letter } }
        return table
    }()
}
