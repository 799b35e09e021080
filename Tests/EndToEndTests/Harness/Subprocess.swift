import Foundation
import Glibc
import Locking
import SystemCalls

/// How a process ended.
enum Exit: Sendable, Equatable, CustomStringConvertible {
    case status(CInt)
    case signal(CInt)

    /// What waitpid(2) tells.
    init(waitStatus: CInt) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .status((waitStatus >> 8) & 0xff) : .signal(signal)
    }

    var description: String {
        switch self {
        case .status(let status): "status \(status)"
        case .signal(let signal): "signal \(signal)"
        }
    }
}

/// A child of the tests, with what it writes.
///
/// With the last reference to this it is killed, together with its process group; it also is when the tests die.
final class Subprocess: Sendable {
    enum Input: Sendable {
        /// Nothing to read: /dev/null.
        case nothing
        /// These bytes, then the end.
        case bytes([UInt8])
        /// What ``Subprocess/write(_:)`` gives, until ``Subprocess/closeInput()``.
        case open
    }

    let pid: pid_t
    let output: Captured
    let errors: Captured

    private let input: Locked<Descriptor?>
    private let ended: Locked<Exit?>

    /// - Parameters:
    ///   - command: The program, looked for in PATH if it has no slash, and its arguments.
    ///   - host: Where it runs.
    ///   - environment: Beside PATH, HOME (which does not exist) and a UTF-8 locale.
    init(
        _ command: [String], on host: Host = .here, environment: [String: String] = [:], input: Input = .nothing
    ) throws(SystemCallError) {
        let (outputReading, outputWriting) = try Spawner.shared.pipe()
        let (errorsReading, errorsWriting) = try Spawner.shared.pipe()
        let (inputReading, inputWriting) = try Self.open(input)
        pid = try Spawner.shared.spawn(
            Launch(
                command: host.command(["setpriv", "--pdeathsig", "KILL", "--"] + command),
                environment: Self.environment.merging(environment) { $1 },
                standard: [inputReading, outputWriting, errorsWriting]))
        output = Captured(outputReading)
        errors = Captured(errorsReading)
        ended = Self.reap(pid)
        if case .bytes(let bytes) = input, let inputWriting {
            // A child that ends without reading all is no concern of this.
            Thread.detachNewThread { try? writeAll(bytes, to: inputWriting) }
            self.input = Locked(nil)
        } else {
            self.input = Locked(inputWriting)
        }
    }

    deinit { signal(SIGKILL, all: true) }

    /// Nil while it runs.
    var exit: Exit? { ended.withLock { $0 } }

    /// Its status, once it has ended and what it wrote has been read.
    func exit(within limit: Duration) async throws -> Exit {
        let exit = try await first("the end of process \(pid); it wrote:\n\(errors.text)", within: limit) { self.exit }
        // Something it started and left may hold its outputs open.
        _ = await eventually(within: .seconds(2)) { output.isAtEnd && errors.isAtEnd }
        return exit
    }

    /// Sends a signal to it, or to its process group; none if it has ended.
    func signal(_ number: CInt, all: Bool = false) {
        ended.withLock { ended in
            if ended == nil { _ = kill(all ? -pid : pid, number) }
        }
    }

    /// Writes to its standard input, which was ``Input/open``; waits while the pipe is full.
    func write(_ text: String) throws(SystemCallError) {
        guard let descriptor = input.withLock({ $0 }) else { return }
        try writeAll(Array(text.utf8), to: descriptor)
    }

    /// Ends its standard input.
    func closeInput() { _ = input.withLock { $0.take() } }

    private static let environment: [String: String] = {
        var kept = ProcessInfo.processInfo.environment.filter { name, _ in
            ["PATH", "LD_LIBRARY_PATH", "LAB_NAME"].contains(name) || name.hasSuffix("SAN_OPTIONS")
        }
        kept["HOME"] = "/nonexistent"
        kept["LC_ALL"] = "C.UTF-8"
        return kept
    }()

    private static func open(
        _ input: Input
    ) throws(SystemCallError) -> (reading: Descriptor, writing: Descriptor?) {
        if case .nothing = input {
            let null = try systemCall("open", "/dev/null") { Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
            return (Descriptor(owning: null), nil)
        }
        let (reading, writing) = try Spawner.shared.pipe()
        return (reading, writing)
    }

    /// Waits for the end on a thread of its own. The process id stays taken until that is known here.
    private static func reap(_ pid: pid_t) -> Locked<Exit?> {
        let ended = Locked<Exit?>(nil)
        Thread.detachNewThread {
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
            ended.withLock {
                var status: CInt = 0
                while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
                $0 = Exit(waitStatus: status)
            }
        }
        return ended
    }
}
