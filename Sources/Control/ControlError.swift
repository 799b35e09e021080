/// An error object of JSON-RPC 2.0, section 5.1, with our exit status in its data.
public struct ControlError: Error, Codable, Sendable, Equatable, CustomStringConvertible {
    struct Details: Codable, Equatable { var exit: Int32 }

    public let code: Int
    /// One line for the user; completes `chat: `.
    public let message: String
    var data: Details?

    init(code: Int, _ message: String, _ exit: ExitStatus) {
        self.code = code
        self.message = message
        data = Details(exit: exit.rawValue)
    }

    /// A request that was understood and failed.
    public init(_ exit: ExitStatus, _ message: String) { self.init(code: -32_000, message, exit) }

    /// With what status a command ends that gets this.
    public var exit: ExitStatus { data.flatMap { ExitStatus(rawValue: $0.exit) } ?? .software }
    public var description: String { message }

    static func parse(_ reason: String) -> ControlError { ControlError(code: -32_700, reason, .badData) }
    static func invalidRequest(_ reason: String) -> ControlError { ControlError(code: -32_600, reason, .badData) }
    static func unknownMethod(_ name: String) -> ControlError {
        ControlError(code: -32_601, "unknown method '\(visible(name.prefix(40)))'", .usage)
    }
    static func badParameters(_ reason: String) -> ControlError { ControlError(code: -32_602, reason, .badData) }
    static let unanswered = ControlError(code: -32_603, "the request was dropped", .software)
}
