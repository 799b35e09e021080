import Control
import Glibc
import Locking

/// What a daemon tells a client of its local API; for daemons of this user only.
final class Watch: Sendable {
    /// Called for each notification, on the client's own thread.
    typealias Follower = @Sendable (ControlNotification) -> Void

    private let client: ControlClient
    private let notifications: Locked<[ControlNotification]>

    /// Returns once nothing is missed any more.
    init(_ state: String, follower: Follower? = nil) throws {
        let notifications = Locked<[ControlNotification]>([])
        client = try ControlClient.connect(
            to: DaemonLocator(stateDirectory: state, room: nil, environment: [:]), waiting: {}
        ) { event in
            guard case .notification(let notification) = event else { return }
            notifications.withLock { $0.append(notification) }
            follower?(notification)
        }
        self.notifications = notifications
        _ = try client.call(.watch, LogParameters(count: 0), within: 10_000)
    }

    /// - Parameter follower: Called for each step of a transfer, on the client's own thread.
    convenience init(_ member: Member, follower: (@Sendable (TransferView) -> Void)? = nil) throws {
        try self.init(member.state) { if case .transfer(let view) = $0 { follower?(view) } }
    }

    deinit { client.close() }

    /// Each step of the transfers so far.
    var transfers: [TransferView] {
        notifications.withLock { $0 }.compactMap { if case .transfer(let view) = $0 { view } else { nil } }
    }
}
