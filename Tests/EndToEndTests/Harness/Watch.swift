import Control
import Glibc
import Locking

/// What a daemon tells a client of its local API; for daemons of this user only.
final class Watch: Sendable {
    private let client: ControlClient
    private let notifications: Locked<[ControlNotification]>

    /// Returns once nothing is missed any more.
    init(_ member: Member) throws {
        let notifications = Locked<[ControlNotification]>([])
        client = try ControlClient.connect(
            to: DaemonLocator(stateDirectory: member.state, room: nil, environment: [:]), waiting: {}
        ) { event in
            if case .notification(let notification) = event { notifications.withLock { $0.append(notification) } }
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
