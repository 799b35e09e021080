/// Another peer, as `peers` lists it.
public struct PeerView: Codable, Sendable, Equatable {
    public enum State: String, Codable, Sendable {
        case connected, away, connecting
        /// It waits until somebody here lets it in.
        case waiting
        /// This host waits until somebody there lets it in.
        case undecided
    }

    /// 64 hexadecimal digits.
    public var peer: String
    public var name: String
    /// Digits of the key that tell two peers of one name apart.
    public var suffix: String
    public var state: State
    public var endpoint: String?
    /// Since when in this state; milliseconds since 1970.
    public var since: Int
    /// Milliseconds since 1970; for a peer that isn't connected.
    public var lastSeen: Int?
    /// When it was met first; milliseconds since 1970.
    public var firstSeen: Int?
    /// `trusted` or `blocked`, if the user said so.
    public var verdict: String?
    /// What is wrong with its name: it belongs to another key, or looks as if it did.
    public var warning: String?
    /// How far its clock was ahead of this host's when it said hello, in milliseconds.
    public var clockOffset: Int?
    /// Why the last dial or link failed.
    public var failure: String?

    public init(
        peer: String, name: String, suffix: String, state: State, endpoint: String? = nil, since: Int,
        lastSeen: Int? = nil
    ) {
        self.peer = peer
        self.name = name
        self.suffix = suffix
        self.state = state
        self.endpoint = endpoint
        self.since = since
        self.lastSeen = lastSeen
    }
}

/// One row of the transcript.
public struct LineView: Codable, Sendable, Equatable {
    public enum Direction: String, Codable, Sendable { case send, receive, local }
    public enum Kind: String, Codable, Sendable { case text, image, notice }

    /// The event's id in hexadecimal digits, which an update repeats; none for a notice.
    public var id: String?
    public var direction: Direction
    public var kind: Kind
    /// PeerID of the author, 64 hexadecimal digits.
    public var author: String
    /// Digits of the key that tell two peers of one name apart.
    public var suffix: String
    /// The author's display name when it was written.
    public var name: String
    public var text: String?
    public var image: ImageView?
    /// Milliseconds since 1970, by the author's clock.
    public var time: Int
    /// The transfer that moves the image.
    public var transfer: String?
    /// What ``LogParameters/after`` is to go on behind this line.
    public var cursor: String?
    /// How much later than it was said it arrived, in milliseconds, if that is more than a minute: no news then.
    public var late: Int?
    /// How far its author's clock was ahead, in milliseconds, if it was too far to be believed.
    public var ahead: Int?
    /// How many of its author's messages directly before it aren't here; where the log is read.
    public var missing: Int?
    /// By how many it is stored; of own messages, where the log is read.
    public var delivery: DeliveryCountView?

    public init(
        id: String? = nil, direction: Direction, kind: Kind, author: String, suffix: String, name: String,
        text: String? = nil, image: ImageView? = nil, time: Int, transfer: String? = nil
    ) {
        self.id = id
        self.direction = direction
        self.kind = kind
        self.author = author
        self.suffix = suffix
        self.name = name
        self.text = text
        self.image = image
        self.time = time
        self.transfer = transfer
    }
}

/// An image in the transcript.
public struct ImageView: Codable, Sendable, Equatable {
    public enum State: String, Codable, Sendable {
        case sending, sent, receiving, received, waiting, refused, failed, cancelled
    }

    public var name: String
    public var mediaType: String
    /// Bytes.
    public var size: Int
    /// Pixels.
    public var width: Int?
    /// Pixels.
    public var height: Int?
    /// The hash that names the bytes, in hexadecimal digits.
    public var root: String
    public var state: State
    public var reason: String?
    /// Where the received file is.
    public var path: String?

    public init(
        name: String, mediaType: String, size: Int, width: Int? = nil, height: Int? = nil, root: String,
        state: State, reason: String? = nil, path: String? = nil
    ) {
        self.name = name
        self.mediaType = mediaType
        self.size = size
        self.width = width
        self.height = height
        self.root = root
        self.state = state
        self.reason = reason
        self.path = path
    }
}

/// How far a transfer is: the total, and a part for each peer.
public struct TransferView: Codable, Sendable, Equatable {
    public enum Direction: String, Codable, Sendable { case send, receive }
    public enum State: String, Codable, Sendable { case running, done, failed, cancelled }

    public struct Peer: Codable, Sendable, Equatable {
        public var peer: String
        public var name: String
        /// Bytes verified by the receiver.
        public var completed: Int
        /// Bytes.
        public var total: Int
        public var state: State
        public var reason: String?

        public init(
            peer: String, name: String, completed: Int, total: Int, state: State, reason: String? = nil
        ) {
            self.peer = peer
            self.name = name
            self.completed = completed
            self.total = total
            self.state = state
            self.reason = reason
        }
    }

    public var transfer: String
    /// The image's name.
    public var name: String
    public var direction: Direction
    /// Bytes over all peers.
    public var completed: Int
    /// Bytes over all peers.
    public var total: Int
    public var state: State
    public var reason: String?
    public var peers: [Peer]

    public init(
        transfer: String, name: String, direction: Direction, completed: Int, total: Int, state: State,
        reason: String? = nil, peers: [Peer]
    ) {
        self.transfer = transfer
        self.name = name
        self.direction = direction
        self.completed = completed
        self.total = total
        self.state = state
        self.reason = reason
        self.peers = peers
    }
}
