/// Requests about who is who and who gets in, and about the daemon itself (docs/protocol.md, "Local API").
public enum GateCall: Sendable {
    case decide(DecideParameters)
    case verifyPeer(PeerParameters)
    case status

    /// - Returns: `nil` for a method that isn't one of these.
    init?(_ method: String, _ line: LineSplitter.Line) throws(ControlError) {
        switch method {
        case "decide": self = .decide(try ParsedRequest.parameters(line))
        case "verifyPeer": self = .verifyPeer(try ParsedRequest.parameters(line))
        case "status": self = .status
        default: return nil
        }
    }
}

extension ControlMethod where Parameters == DecideParameters, Result == PeerResult {
    public static var decide: Self { Self(name: "decide") }
}
extension ControlMethod where Parameters == PeerParameters, Result == VerifyPeerResult {
    public static var verifyPeer: Self { Self(name: "verifyPeer") }
}
extension ControlMethod where Parameters == NoFields, Result == StatusResult {
    public static var status: Self { Self(name: "status") }
}

public struct PeerParameters: Codable, Sendable, Equatable {
    /// A key, at least six digits of one, or a display name.
    public var peer: String

    public init(peer: String) { self.peer = peer }
}

public struct DecideParameters: Codable, Sendable, Equatable {
    /// A key, at least six digits of one, or a display name.
    public var peer: String
    /// `trust`, `block`, `unblock`, `accept` or `refuse`.
    public var decision: String

    public init(peer: String, decision: String) {
        self.peer = peer
        self.decision = decision
    }
}

/// Who was meant.
public struct PeerResult: Codable, Sendable, Equatable {
    /// 64 hexadecimal digits.
    public var peer: String
    public var name: String
    public var suffix: String

    public init(peer: String, name: String, suffix: String) {
        self.peer = peer
        self.name = name
        self.suffix = suffix
    }
}

public struct VerifyPeerResult: Codable, Sendable, Equatable {
    /// 64 hexadecimal digits.
    public var peer: String
    public var name: String
    public var suffix: String
    /// Thirty decimal digits in six groups, the same on the peer's screen.
    public var code: String

    public init(peer: String, name: String, suffix: String, code: String) {
        self.peer = peer
        self.name = name
        self.suffix = suffix
        self.code = code
    }
}

/// How the daemon is; sizes in bytes.
public struct StatusResult: Codable, Sendable, Equatable {
    /// What one linked peer costs.
    public struct Peer: Codable, Sendable, Equatable {
        public var peer: String
        public var name: String
        public var suffix: String
        /// Waiting to be sent to it, over both of its links.
        public var queued: Int
        /// Come from it, and not yet dealt with.
        public var inHand: Int
        /// Whether it is read from no further until that is less.
        public var isPaused: Bool

        public init(peer: String, name: String, suffix: String, queued: Int, inHand: Int, isPaused: Bool) {
            self.peer = peer
            self.name = name
            self.suffix = suffix
            self.queued = queued
            self.inHand = inHand
            self.isPaused = isPaused
        }
    }

    public var version: String
    public var pid: Int
    public var room: String
    public var name: String
    public var peer: String
    public var port: Int
    public var discovery: String
    /// `open`, `known` or `ask`.
    public var admission: String
    /// Those linked, in the order of their keys.
    public var peers: [Peer]
    /// Milliseconds since the daemon joined.
    public var uptime: Int
    /// Resident.
    public var memory: Int
    public var descriptors: Int
    public var threads: Int
    /// The history's files.
    public var history: Int
    /// Images that are kept, whole and in part.
    public var blobs: Int
    public var stateDirectory: String
    /// What is wrong with what is stored, a line each.
    public var troubles: [String]?

    public init(
        version: String = chatVersion, pid: Int, room: String, name: String, peer: String, port: Int,
        discovery: String, admission: String, peers: [Peer], uptime: Int, memory: Int, descriptors: Int, threads: Int,
        history: Int, blobs: Int, stateDirectory: String, troubles: [String]? = nil
    ) {
        self.version = version
        self.pid = pid
        self.room = room
        self.name = name
        self.peer = peer
        self.port = port
        self.discovery = discovery
        self.admission = admission
        self.peers = peers
        self.uptime = uptime
        self.memory = memory
        self.descriptors = descriptors
        self.threads = threads
        self.history = history
        self.blobs = blobs
        self.stateDirectory = stateDirectory
        self.troubles = troubles
    }
}
