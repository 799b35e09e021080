/// Limits and timers of the local API; tests shrink them.
public struct ControlLimits: Sendable {
    /// Clients at once.
    public var clients = 32
    /// The longest request line, in bytes.
    public var requestLength = 1024 * 1024
    /// Notifications waiting for one client; one more ends its connection.
    public var queuedNotifications = 1000
    /// Bytes of notifications waiting for one client; more end its connection.
    public var queuedNotificationBytes = 8 * 1024 * 1024
    /// Requests of one client in hand; further ones are read when some are answered.
    public var openRequests = 256
    /// Bytes of answers waiting for one client above which no more of its requests are read.
    public var queuedAnswerBytes = 1024 * 1024
    /// How long a client that read too slowly may take for what it still gets, in milliseconds.
    public var farewell = 2000
    /// How long to wait when descriptors ran out, in milliseconds.
    public var acceptPause = 100

    public init() {}
}
