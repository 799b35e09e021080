import Glibc

/// Puts the terminal back when the program dies of a fault of its own.
///
/// One at a time. A signal handler may only touch plain memory, so what it needs is copied to a place that stays.
final class CrashGuard {
    private struct Saved {
        var output: CInt
        var input: CInt
        var mode = termios()
    }

    /// Safe: written before the handlers are installed and after they are gone; they only read it.
    nonisolated(unsafe) private static var saved: Saved?

    private static let signals = [SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT, SIGTRAP]

    /// `mode` is the input's mode before it was raw.
    init(_ console: Console, mode: termios) {
        Self.saved = Saved(output: console.output, input: console.input, mode: mode)
        for number in Self.signals {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                CrashGuard.putBack()
                raise(number)
            }
            action.sa_flags = CInt(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
        }
    }

    func stop() {
        for number in Self.signals { Glibc.signal(number, SIG_DFL) }
        Self.saved = nil
    }

    private static func putBack() {
        guard var saved else { return }
        let bytes: StaticString = "\u{1b}[?2004l\u{1b}[?25h\r\n"
        _ = write(saved.output, bytes.utf8Start, bytes.utf8CodeUnitCount)
        tcsetattr(saved.input, TCSANOW, &saved.mode)
    }
}
