import Glibc

/// Puts the terminal back when the program dies of a fault of its own.
///
/// One at a time. A signal handler may only touch plain memory, so what it needs is copied to a place that stays.
final class CrashGuard {
    private struct Saved {
        var output: CInt
        var input: CInt
        var mode = termios()
        var finish: StaticString
    }

    /// Safe: written before the handlers are installed and after they are gone; they only read it.
    nonisolated(unsafe) private static var saved: Saved?

    private static let signals = [SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT, SIGTRAP]

    /// - Parameters:
    ///   - console: Its streams.
    ///   - mode: The input's before it was raw.
    ///   - finish: Written to the output.
    init(_ console: Console, mode: termios, finish: StaticString) {
        Self.saved = Saved(output: console.output, input: console.input, mode: mode, finish: finish)
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
        let lineEnd: StaticString = "\r\n"
        _ = write(saved.output, saved.finish.utf8Start, saved.finish.utf8CodeUnitCount)
        _ = write(saved.output, lineEnd.utf8Start, lineEnd.utf8CodeUnitCount)
        tcsetattr(saved.input, TCSANOW, &saved.mode)
    }
}
