import Control
import Glibc

/// What happens to a terminal beside its keys.
enum TerminalEvent: Sendable, Equatable {
    /// A signal that would have ended the program.
    case signal(CInt)
    case resized
}

extension Console {
    /// Takes the terminal over while `body` runs, and puts it back on every way out, a crash among them.
    ///
    /// - Parameters:
    ///   - start: Written first.
    ///   - finish: Written last; by itself it must do where the program crashes.
    ///   - report: Gets signals and resizes, on a thread of their own.
    ///   - body: Reads keys one by one, without echo.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; ``Control/CommandFailure`` where the input is no terminal.
    func takeOver<Result>(
        start: StaticString, finish: StaticString, report: @escaping @Sendable (TerminalEvent) -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        guard let terminal = RawTerminal(input) else { throw CommandFailure(.software, "no terminal") }
        let signals = SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { report(.signal($0)) }
        let resizes = SignalWatch([SIGWINCH]) { _ in report(.resized) }
        let guardian = CrashGuard(self, mode: terminal.before, finish: finish)
        defer {
            try? write("\(finish)")
            terminal.restore()
            guardian.stop()
            signals.stop()
            resizes.stop()
        }
        try write("\(start)")
        return try body()
    }
}

/// A signal asked us to end; the status is 128 and its number, as shells count.
struct Killed: Error {
    let signal: CInt
}
