extension ControlMethod where Parameters == VerifyParameters, Result == VerifyResult {
    public static var verify: Self { Self(name: "verify") }
}

public struct VerifyParameters: Codable, Sendable, Equatable {
    /// How long a peer may take, in milliseconds.
    public var timeout: Int?

    public init(timeout: Int? = nil) { self.timeout = timeout }
}

/// Whether all linked peers hold the same messages as this host.
public struct VerifyResult: Codable, Sendable, Equatable {
    public struct Peer: Codable, Sendable, Equatable {
        public enum State: String, Codable, Sendable { case same, different, silent }

        /// 64 hexadecimal digits.
        public var peer: String
        public var name: String
        public var suffix: String
        public var state: State
        public var ranges: [Range]

        public init(peer: String, name: String, suffix: String, state: State, ranges: [Range] = []) {
            self.peer = peer
            self.name = name
            self.suffix = suffix
            self.state = state
            self.ranges = ranges
        }
    }

    /// Messages of one log that one of the two lacks, or has otherwise.
    public struct Range: Codable, Sendable, Equatable {
        public enum Kind: String, Codable, Sendable {
            /// The peer lacks them.
            case lackedThere
            /// This host lacks them.
            case lackedHere
            /// Both have some, and not the same.
            case other
        }

        public var kind: Kind
        /// PeerID of the log's author.
        public var author: String
        public var name: String
        public var suffix: String
        /// Which of the author's logs, 32 hexadecimal digits.
        public var incarnation: String
        public var first: Int
        public var last: Int

        public init(
            kind: Kind, author: String, name: String, suffix: String, incarnation: String, first: Int, last: Int
        ) {
            self.kind = kind
            self.author = author
            self.name = name
            self.suffix = suffix
            self.incarnation = incarnation
            self.first = first
            self.last = last
        }
    }

    /// How many messages this host held when it asked.
    public var messages: Int
    public var peers: [Peer]
    /// Authors with two histories under one key, as `name (digits)`: their messages aren't compared.
    public var forked: [String]

    public init(messages: Int, peers: [Peer], forked: [String] = []) {
        self.messages = messages
        self.peers = peers
        self.forked = forked
    }
}
