import Dispatch
import Glibc
import SystemCalls

/// How long a client waits for a daemon that isn't up yet; milliseconds.
public struct ConnectPatience: Sendable {
    /// After this the user is told.
    public var notice = 500
    /// After this it fails.
    public var limit = 3000
    /// Between two looks.
    public var pause = 50

    public init() {}
}

extension ControlClient {
    /// Finds a daemon and connects to it; waits for one that is just starting.
    ///
    /// - Parameters:
    ///   - locator: Which daemon.
    ///   - patience: How long to try.
    ///   - waiting: Called once when it takes longer than ``ConnectPatience/notice``.
    ///   - events: Called on the client's queue for what the daemon says unasked.
    /// - Returns: An open connection; the daemon runs as the same user.
    /// - Throws: With ``ExitStatus/unavailable`` when there is none.
    public static func connect(
        to locator: DaemonLocator, patience: ConnectPatience = ConnectPatience(), waiting: () -> Void,
        events: @escaping @Sendable (ControlClientEvent) -> Void
    ) throws(CommandFailure) -> ControlClient {
        let start = DispatchTime.now()
        var isNoticed = false
        while true {
            let finding = try locator.look()
            if case .one(let socket, _) = finding { return ControlClient(socket, events: events) }
            let elapsed = Int((DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000)
            if elapsed >= patience.limit { throw failure(finding) }
            if elapsed >= patience.notice, !isNoticed {
                isNoticed = true
                waiting()
            }
            usleep(UInt32(patience.pause) * 1000)
        }
    }

    private static func failure(_ finding: DaemonLocator.Finding) -> CommandFailure {
        if case .busy(let path) = finding {
            return CommandFailure(.unavailable, "the chatd at \(path) does not answer")
        }
        return CommandFailure(.unavailable, "no chatd is running; start one: chatd --room ROOM --name NAME")
    }
}
