import Glibc
import SystemCalls

/// A running chatd.
final class Daemon: Sendable {
    let state: String
    let host: Host
    let process: Subprocess

    /// Starts it; ``log(_:within:where:)`` tells how far it is.
    ///
    /// - Parameters:
    ///   - arguments: Beside `--state-dir`, as in `["--room", "lab", "--name", "alice"]`.
    ///   - state: Its state directory.
    ///   - isHeld: Whether it waits for a line on its standard input, and starts at that moment.
    init(
        _ arguments: [String], state: String, on host: Host = .here, environment: [String: String] = [:],
        isHeld: Bool = false
    ) throws(SystemCallError) {
        self.state = state
        self.host = host
        let command = [host.programs.chatd, "--state-dir", state] + arguments
        process = try Subprocess(
            isHeld ? ["sh", "-c", "read -r go; exec \"$@\"", "sh"] + command : command, on: host,
            environment: environment, input: isHeld ? .open : .nothing)
    }

    /// The chat that talks to it.
    var client: Client { Client(state: state, on: host) }

    /// What it has logged.
    var log: [String] { process.errors.lines }

    /// The first line it has logged or logs, for which `isWanted` holds.
    @discardableResult
    func log(
        _ what: String, within limit: Duration = .seconds(10), where isWanted: (String) -> Bool
    ) async throws -> String {
        try await process.errors.line(what, within: limit, where: isWanted)
    }

    /// Asks it to leave.
    @discardableResult
    func terminate(within limit: Duration = .seconds(5)) async throws -> Exit {
        process.signal(SIGTERM)
        return try await process.exit(within: limit)
    }

    /// Ends it without a word, as a crash would.
    func kill() async throws {
        process.signal(SIGKILL)
        _ = try await process.exit(within: .seconds(5))
    }

    /// Holds it, as a sleeping laptop would, until ``proceed()``.
    func stop() { process.signal(SIGSTOP) }

    func proceed() { process.signal(SIGCONT) }
}
