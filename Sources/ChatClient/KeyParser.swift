/// What the user did at the keyboard.
enum Key: Equatable {
    /// Characters as typed, as many as came at once.
    case text(String)
    /// Characters as pasted, line ends as LF.
    case paste(String)
    case enter, backspace, delete, left, right, wordLeft, wordRight, home, end, up, down
    case pageUp, pageDown
    case killToEnd, killToStart, killWord, redraw, interrupt, endOfInput
}

/// Bytes of a terminal to keys: a pure state machine, fed as bytes come.
///
/// Sequences by ECMA-48 and xterm's ctlseqs, bracketed paste among them. What it doesn't know is swallowed whole.
struct KeyParser {
    /// After so many milliseconds without a byte a paste is over: its end mark was lost.
    static let pasteLimit = 500
    /// After so many milliseconds alone an escape is the key, not the start of a sequence.
    static let escapeLimit = 100

    private enum State: Equatable {
        case ground
        case escape([UInt8])
        case paste
    }

    private static let pasteEnd = Array("\u{1b}[201~".utf8)
    /// Longer sequences aren't any that we know.
    private static let longestSequence = 32

    private var state = State.ground
    private var pasted: [UInt8] = []
    private var typed: [UInt8] = []
    private var keys: [Key] = []

    /// How long to wait for more bytes before ``flush()``, in milliseconds; `nil` when nothing is open.
    var patience: Int? {
        switch state {
        case .ground: nil
        case .escape: Self.escapeLimit
        case .paste: Self.pasteLimit
        }
    }

    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        for byte in bytes { take(byte) }
        emitTyped(isComplete: false)
        return drain()
    }

    /// Ends what is open, after ``patience`` without a byte.
    mutating func flush() -> [Key] {
        if state == .paste { emitPaste() }
        state = .ground
        return drain()
    }

    private mutating func drain() -> [Key] {
        defer { keys = [] }
        return keys
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .ground: takeGround(byte)
        case .escape(let sequence): takeEscape(sequence + [byte])
        case .paste: takePaste(byte)
        }
    }

    private mutating func takeGround(_ byte: UInt8) {
        if byte >= 0x20, byte != 0x7F {
            typed.append(byte)
            return
        }
        emitTyped(isComplete: true)
        if byte == 0x1B {
            state = .escape([])
        } else if let key = Self.controls[byte] {
            keys.append(key)
        }
    }

    private static let controls: [UInt8: Key] = [
        0x01: .home, 0x02: .left, 0x03: .interrupt, 0x04: .endOfInput, 0x05: .end, 0x06: .right, 0x08: .backspace,
        0x09: .text("\t"), 0x0A: .enter, 0x0B: .killToEnd, 0x0C: .redraw, 0x0D: .enter, 0x0E: .down, 0x10: .up,
        0x15: .killToStart, 0x17: .killWord, 0x7F: .backspace,
    ]

    /// `sequence` is what came after the escape.
    private mutating func takeEscape(_ sequence: [UInt8]) {
        guard let first = sequence.first, let last = sequence.last else { return }
        if last == 0x1B {
            state = .escape([])
        } else if last < 0x20 || last == 0x7F {
            state = .ground
            takeGround(last)
        } else if first == UInt8(ascii: "[") || first == UInt8(ascii: "O") {
            guard sequence.count > 1, (0x40...0x7E).contains(last) else {
                state = sequence.count > Self.longestSequence ? .ground : .escape(sequence)
                return
            }
            state = .ground
            finish(String(decoding: sequence, as: UTF8.self))
        } else {
            state = .ground
            finish(String(decoding: sequence, as: UTF8.self))
        }
    }

    private mutating func finish(_ sequence: String) {
        if sequence == "[200~" {
            state = .paste
        } else if let key = Self.sequences[sequence] {
            keys.append(key)
        }
    }

    private static let sequences: [String: Key] = [
        "[A": .up, "[B": .down, "[C": .right, "[D": .left, "OA": .up, "OB": .down, "OC": .right, "OD": .left,
        "[H": .home, "[F": .end, "OH": .home, "OF": .end, "[1~": .home, "[4~": .end, "[7~": .home, "[8~": .end,
        "[3~": .delete, "[5~": .pageUp, "[6~": .pageDown, "[1;5C": .wordRight, "[1;5D": .wordLeft, "[1;3C": .wordRight,
        "[1;3D": .wordLeft,
        "f": .wordRight, "b": .wordLeft, "OM": .enter,
    ]

    private mutating func takePaste(_ byte: UInt8) {
        pasted.append(byte)
        guard byte == Self.pasteEnd.last, pasted.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd) else {
            return
        }
        pasted.removeLast(Self.pasteEnd.count)
        emitPaste()
        state = .ground
    }

    private mutating func emitPaste() {
        let text = String(decoding: pasted, as: UTF8.self)
        pasted = []
        // CR LF is one character, and terminals send CR for a line end.
        let unified = text.unicodeScalars.split(separator: "\r", omittingEmptySubsequences: false)
        var scalars = String.UnicodeScalarView()
        for (index, part) in unified.enumerated() {
            if index > 0, part.first != "\n" { scalars.append("\n") }
            scalars.append(contentsOf: part)
        }
        let kept = scalars.filter {
            $0 == "\n" || $0 == "\t" || ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value))
        }
        if !kept.isEmpty { keys.append(.paste(String(String.UnicodeScalarView(kept)))) }
    }

    /// Decodes whole characters; the start of one waits for its rest.
    private mutating func emitTyped(isComplete: Bool) {
        let rest = isComplete ? 0 : Self.unfinished(typed)
        let text = String(decoding: typed.dropLast(rest), as: UTF8.self)
        typed = Array(typed.suffix(rest))
        let scalars = text.unicodeScalars.filter { $0 != "\u{FFFD}" && !(0x80...0x9F).contains($0.value) }
        if !scalars.isEmpty { keys.append(.text(String(String.UnicodeScalarView(scalars)))) }
    }

    /// How many bytes at the end begin a character that isn't complete (RFC 3629).
    private static func unfinished(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte < 0x80 { return 0 }
            guard byte >= 0xC0 else { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            return length > back ? back : 0
        }
        return 0
    }
}
