extension ControlMethod where Parameters == DeliveryParameters, Result == DeliveryView {
    public static var delivery: Self { Self(name: "delivery") }
}

public struct DeliveryParameters: Codable, Sendable, Equatable {
    /// The event's, 64 hexadecimal digits.
    public var id: String
    /// Whether `delivery` notifications follow whenever more is known.
    public var follow: Bool?

    public init(id: String, follow: Bool? = nil) {
        self.id = id
        self.follow = follow
    }
}

/// Of those whom a message was for, how many are known to have stored it.
public struct DeliveryCountView: Codable, Sendable, Equatable {
    public var stored: Int
    public var members: Int

    public init(stored: Int, members: Int) {
        self.stored = stored
        self.members = members
    }
}

/// Who is known to have stored a message.
public struct DeliveryView: Codable, Sendable, Equatable {
    public struct Peer: Codable, Sendable, Equatable {
        public enum State: String, Codable, Sendable {
            case stored, pending
            /// Of a message that isn't this host's own: its author alone is told.
            case unknown
        }

        /// 64 hexadecimal digits.
        public var peer: String
        public var name: String
        public var suffix: String
        public var state: State
        /// Whether the message was for it when it was sent; else it came later.
        public var isMember: Bool
        /// How it stands now.
        public var presence: PeerView.State
        /// Since when, or when it was seen last; milliseconds since 1970, none where nobody knows.
        public var since: Int?

        public init(
            peer: String, name: String, suffix: String, state: State, isMember: Bool, presence: PeerView.State,
            since: Int? = nil
        ) {
            self.peer = peer
            self.name = name
            self.suffix = suffix
            self.state = state
            self.isMember = isMember
            self.presence = presence
            self.since = since
        }
    }

    /// The event's, 64 hexadecimal digits.
    public var id: String
    /// PeerID of the author.
    public var author: String
    public var count: DeliveryCountView
    /// Members first.
    public var peers: [Peer]

    public init(id: String, author: String, count: DeliveryCountView, peers: [Peer]) {
        self.id = id
        self.author = author
        self.count = count
        self.peers = peers
    }
}

struct DeliveryField: Codable { var delivery: DeliveryView }
