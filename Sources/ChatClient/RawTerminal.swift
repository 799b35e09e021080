import Glibc

/// A terminal that gives every key at once, until it is put back.
final class RawTerminal {
    private let input: CInt
    /// The mode to put back.
    private(set) var before = termios()
    private var isRaw = false

    /// - Returns: `nil` when it isn't a terminal.
    init?(_ input: CInt) {
        self.input = input
        guard tcgetattr(input, &before) == 0 else { return nil }
        var raw = before
        // No echo, no lines, no signals from keys, no flow control: the editor does all that. Output stays as it is.
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | ISTRIP | BRKINT)
        guard tcsetattr(input, TCSADRAIN, &raw) == 0 else { return nil }
        isRaw = true
    }

    func restore() {
        guard isRaw else { return }
        isRaw = false
        tcsetattr(input, TCSADRAIN, &before)
    }

    deinit { restore() }
}
