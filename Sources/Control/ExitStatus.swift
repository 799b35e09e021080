/// What both programs print for `--version`, and `hello` tells.
public let chatVersion = "0.1.0"

/// How a command ends: sysexits(3), and 130 as shells say for an interrupt.
public enum ExitStatus: Int32, Sendable, Codable {
    case success = 0
    /// What was compared differs, as cmp(1) and diff(1) end.
    case different = 1
    /// A wrong command line, a bad name or room, several daemons and no choice.
    case usage = 64
    /// Text too long or not UTF-8.
    case badData = 65
    /// A file that is missing, unreadable or not regular.
    case noInput = 66
    /// No daemon, or it went away.
    case unavailable = 69
    /// A fault of ours.
    case software = 70
    /// State that can't be created.
    case cannotCreate = 73
    /// State that can't be read or written.
    case inputOutput = 74
    /// Already running, a transfer that failed, or a wait that timed out.
    case tryAgain = 75
    /// A cursor of another history.
    case foreignCursor = 76
    /// Something of another user's.
    case noPermission = 77
    case interrupted = 130
}

/// Why a command ends: one line for the user, and the status.
public struct CommandFailure: Error, Equatable, CustomStringConvertible {
    public let exit: ExitStatus
    /// Completes `chat: `; safe to print.
    public let message: String

    public init(_ exit: ExitStatus, _ message: String) {
        self.exit = exit
        self.message = message
    }

    public var description: String { message }
}

/// A wrong command line: what is wrong, and the command that says more.
public struct UsageError: Error, Equatable, CustomStringConvertible {
    /// Completes `chat: `.
    public let message: String
    /// Such as `chat send --help`.
    public let help: String

    public init(_ message: String, help: String) {
        self.message = message
        self.help = help
    }

    public var description: String { message }

    /// Both lines, as a program prints them.
    public func lines(program: String) -> String { "\(program): \(message)\ntry '\(help)'" }
}
