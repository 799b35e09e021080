public import SystemCalls

/// A request that was understood; what each means stands in docs/protocol.md, "Local API".
public enum ControlCall: Sendable {
    case hello
    case send(SendParameters)
    /// The descriptor is the client's open file: read it, never a path.
    case sendImage(SendImageParameters, Descriptor)
    case followTransfer(TransferParameters)
    case cancelTransfer(TransferParameters)
    case peers
    case log(LogParameters)
    case watch(LogParameters)
    case delivery(DeliveryParameters)
    case verify(VerifyParameters)
    case gate(GateCall)
}

/// A method's name with the types that go in and come out.
public struct ControlMethod<Parameters: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    public let name: String
}

extension ControlMethod where Parameters == NoFields, Result == HelloResult {
    public static var hello: Self { Self(name: "hello") }
}
extension ControlMethod where Parameters == SendParameters, Result == SendResult {
    public static var send: Self { Self(name: "send") }
}
extension ControlMethod where Parameters == SendImageParameters, Result == SendImageResult {
    public static var sendImage: Self { Self(name: "sendImage") }
}
extension ControlMethod where Parameters == TransferParameters, Result == TransferResult {
    public static var followTransfer: Self { Self(name: "followTransfer") }
}
extension ControlMethod where Parameters == TransferParameters, Result == NoFields {
    public static var cancelTransfer: Self { Self(name: "cancelTransfer") }
}
extension ControlMethod where Parameters == NoFields, Result == PeersResult {
    public static var peers: Self { Self(name: "peers") }
}
extension ControlMethod where Parameters == LogParameters, Result == LogResult {
    public static var log: Self { Self(name: "log") }
    public static var watch: Self { Self(name: "watch") }
}

/// An empty object.
public struct NoFields: Codable, Sendable, Equatable {
    public init() {}
}

public struct HelloResult: Codable, Sendable, Equatable {
    public var version: String
    /// Process id.
    public var pid: Int
    public var room: String
    /// 64 hexadecimal digits.
    public var roomID: String
    /// The own display name.
    public var name: String
    /// The own PeerID, 64 hexadecimal digits.
    public var peer: String
    /// The discovery provider at work.
    public var discovery: String
    /// The TCP port that peers dial.
    public var port: Int
    public var stateDirectory: String
    public var downloads: String
    /// How many peers are linked now.
    public var linked: Int

    public init(
        version: String = chatVersion, pid: Int, room: String, roomID: String, name: String, peer: String,
        discovery: String, port: Int, stateDirectory: String, downloads: String, linked: Int
    ) {
        self.version = version
        self.pid = pid
        self.room = room
        self.roomID = roomID
        self.name = name
        self.peer = peer
        self.discovery = discovery
        self.port = port
        self.stateDirectory = stateDirectory
        self.downloads = downloads
        self.linked = linked
    }
}

public struct SendParameters: Codable, Sendable, Equatable {
    public var text: String
    /// 32 hexadecimal digits: a second call with the same nonce and text gives the first one's id.
    public var nonce: String?

    public init(text: String, nonce: String? = nil) {
        self.text = text
        self.nonce = nonce
    }
}

/// Given after the commit.
public struct SendResult: Codable, Sendable, Equatable {
    /// 64 hexadecimal digits.
    public var id: String
    /// The event's number in its author's log.
    public var number: Int
    /// How many peers are linked now.
    public var linked: Int

    public init(id: String, number: Int, linked: Int) {
        self.id = id
        self.number = number
        self.linked = linked
    }
}

/// Goes with one descriptor beside the request's line.
public struct SendImageParameters: Codable, Sendable, Equatable {
    /// The file's name without directories.
    public var name: String
    public var nonce: String?

    public init(name: String, nonce: String? = nil) {
        self.name = name
        self.nonce = nonce
    }
}

/// Given after the commit.
public struct SendImageResult: Codable, Sendable, Equatable {
    public struct Receiver: Codable, Sendable, Equatable {
        public var peer: String
        public var name: String

        public init(peer: String, name: String) {
            self.peer = peer
            self.name = name
        }
    }

    public var id: String
    public var transfer: String
    /// Who was linked at the send; fixed from then on.
    public var receivers: [Receiver]

    public init(id: String, transfer: String, receivers: [Receiver]) {
        self.id = id
        self.transfer = transfer
        self.receivers = receivers
    }
}

public struct TransferParameters: Codable, Sendable, Equatable {
    public var transfer: String
    public init(transfer: String) { self.transfer = transfer }
}

public struct TransferResult: Codable, Sendable, Equatable {
    public var transfer: TransferView
    public init(transfer: TransferView) { self.transfer = transfer }
}

public struct PeersResult: Codable, Sendable, Equatable {
    public var peers: [PeerView]
    public init(peers: [PeerView]) { self.peers = peers }
}

/// What a daemon says unasked.
public enum ControlNotification: Sendable, Equatable {
    /// A new row of the transcript.
    case line(LineView)
    /// A row that changed; its id is the same.
    case update(LineView)
    case transfer(TransferView)
    /// More is known of who has stored a message.
    case delivery(DeliveryView)
    /// This client read too slowly: something was left out, and the connection ends.
    case gap
}
