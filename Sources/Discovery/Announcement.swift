public import Identity

/// What a peer announces of itself on the local network.
public struct Announcement: Sendable, Equatable {
    /// What people call the peer; cut where it is too long for a DNS label.
    public var displayName: String
    /// A valid room name, in lower case.
    public var room: String
    public var peer: PeerID
    /// Where the peer takes TCP connections.
    public var port: UInt16
    /// For a keyed room: nothing of the above but the port is announced.
    public var concealment: Concealment?

    public init(displayName: String, room: String, peer: PeerID, port: UInt16, concealment: Concealment? = nil) {
        self.displayName = displayName
        self.room = room
        self.peer = peer
        self.port = port
        self.concealment = concealment
    }
}
