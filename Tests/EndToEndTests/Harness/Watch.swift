import Control
import Glibc
import Locking

/// What a daemon tells a client of its local API; for daemons of this user only.
final class Watch: Sendable {
    /// Called for each step of a transfer, on the client's own thread.
    typealias Follower = @Sendable (TransferView) -> Void

    private let client: ControlClient
    private let notifications: Locked<[ControlNotification]>

    /// Returns once nothing is missed any more.
    init(_ member: Member, follower: Follower? = nil) throws {
        let notifications = Locked<[ControlNotification]>([])
        client = try ControlClient.connect(
            to: DaemonLocator(stateDirectory: member.state, room: nil, environment: [:]), waiting: {}
        ) { event in
            guard case .notification(let notification) = event else { return }
            notifications.withLock { $0.append(notification) }
            if case .transfer(let view) = notification { follower?(view) }
        }
        self.notifications = notifications
        _ = try client.call(.watch, LogParameters(count: 0), within: 10_000)
    }

    deinit { client.close() }

    /// Each step of the transfers so far.
    var transfers: [TransferView] {
        notifications.withLock { $0 }.compactMap { if case .transfer(let view) = $0 { view } else { nil } }
    }
}
