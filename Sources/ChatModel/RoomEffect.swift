public import Addressing
public import Identity

/// What the room wants done; the feedback loops do it.
public enum RoomEffect: Sendable {
    // Links
    case dial(DialNumber, DialTarget, replacingSilent: Bool)
    case send(PeerID, [SessionMessage])
    case sendBlob(PeerID, SessionMessage)
    case disconnect(PeerID, reason: String)
    /// These get no link from now on, and are told nothing; replaces those named before.
    case shutOut(Set<PeerID>)
    /// Peers have proven their keys at these addresses in former runs; the latest are last.
    case expect([IPAddress])
    /// A peer has signed that it is at these.
    case admit([IPAddress])
    /// Those that their subjects have signed come back as ``RoomEvent/hinted(by:_:)``.
    case verify([PeerHint], from: PeerID)

    // Storage
    /// To be numbered, sealed, stored and told of as ``RoomEvent/appended(_:_:)``.
    case append([Draft])
    /// To be verified, stored and told of as ``RoomEvent/stored(from:_:)``.
    case store([UInt8], from: PeerID)
    case serve(Want, to: PeerID)
    /// To come back as ``RoomEvent/answered(by:_:)`` once what came before it is stored.
    case settle(Want, from: PeerID)
    /// In place of what was known of the peer; nothing more is if the record is void.
    indirect case remember(PeerID, PeerRecord)
    /// As ``remember(_:_:)``, and to come back as ``RoomEvent/judged(_:)``.
    indirect case judge(PeerID, PeerRecord, CommandID)
    case note(EventID, ImageState)
    /// A peer is known to have these numbers of a log now, and no others.
    indirect case held(PeerID, LogID, [ClosedRange<UInt64>])
    /// Own events are for these from a number on.
    indirect case enroll(LogID, from: UInt64, [PeerID])
    /// To come back as ``RoomEvent/receiptVerified(_:)``.
    indirect case signReceipt(Receipt.Content)
    /// To come back as ``RoomEvent/receiptVerified(_:)`` or ``RoomEvent/receiptRefused(_:from:)``.
    indirect case verifyReceipt(Receipt, from: PeerID)
    /// To be read from the disk and sent; then ``RoomEvent/verifyAnswered(_:)``.
    indirect case answer(UInt64, without: Set<PeerID>, to: PeerID)
    /// These were asked what is on their disks.
    case asked(UInt64, [PeerID])
    indirect case verified(PeerID, Verified)
    /// In place of the holder's receipt before.
    indirect case keepReceipt(Receipt)

    // Blobs
    case beginBlob(BlobRoot, size: UInt64)
    case setHashes(BlobRoot, size: UInt64, [Bytes32], from: PeerID)
    case writePiece(BlobData, size: UInt64, from: PeerID)
    case serveBlob(BlobWant, to: PeerID)
    /// Nobody wants what has come of it so far.
    case abandonBlob(BlobRoot)
    case place(EventID, BlobRoot, label: String)

    // People and time
    /// New lines, oldest first.
    case emit([Transcript])
    /// A line of before has changed.
    indirect case update(Transcript)
    indirect case transfer(EventID, TransferChange)
    indirect case peer(PeerStatus)
    /// Nothing is known of a peer any more that was only talked of.
    case forget(PeerID)
    case reply(CommandID, CommandReply)
    /// Each of these is to be replied to with ``CommandReply/stored(_:number:receivers:)``.
    case replyStored([Appended], receivers: [PeerID: String])
    case log(String)
    /// A ``RoomEvent/tick`` is due at this time of the clock that never jumps; replaces an earlier wish.
    case wake(at: UInt64)
}

/// An own event without its number.
public struct Draft: Hashable, Sendable {
    public var event: BatchEvent
    /// Whether no earlier event can have its nonce.
    public var isNonceNew: Bool
    public var command: CommandID

    public init(event: BatchEvent, isNonceNew: Bool = false, command: CommandID) {
        self.event = event
        self.isNonceNew = isNonceNew
        self.command = command
    }
}

/// How a peer stands, for a listing.
public struct PeerStatus: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case connected, away, connecting
        /// It waits until somebody here lets it in.
        case waiting
        /// We wait until somebody there lets us in.
        case undecided
    }

    public var peer: PeerID
    public var name: String
    public var state: State
    /// The peer's end of the link, or where it was last reached.
    public var endpoint: Endpoint?
    /// Since when it stands so, in milliseconds since 1970.
    public var since: UInt64
    public var record: PeerRecord?
    public var alarm: NameAlarm?
    /// How far its clock was ahead of ours when it said hello, in milliseconds.
    public var clockOffset: Int64?
    /// Why the last dial or link failed.
    public var failure: String?

    public init(peer: PeerID, name: String, state: State, endpoint: Endpoint? = nil, since: UInt64) {
        self.peer = peer
        self.name = name
        self.state = state
        self.endpoint = endpoint
        self.since = since
    }
}

/// Whom or what to dial.
public enum DialTarget: Hashable, Sendable {
    case peer(PeerID, [Endpoint])
    /// `HOST:PORT` as the user gave it.
    case place(String)
    /// Whoever is there.
    case endpoints([Endpoint])
}

/// A step of a transfer.
public enum TransferChange: Hashable, Sendable {
    /// `peers` are those who receive, or on the receiving side the author alone.
    case started(direction: Transcript.Direction, name: String, size: UInt64, peers: [PeerID: String])
    case advanced(PeerID, to: UInt64)
    case finished(PeerID)
    case failed(PeerID, reason: String)
    case cancelled
}

/// The answer to a command.
public enum CommandReply: Hashable, Sendable {
    case stored(EventID, number: UInt64, receivers: [PeerID: String])
    /// A decision is carried out.
    case done
    case failed(AppendFailure)
}

/// Why a command was not carried out.
public enum AppendFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The nonce has another text.
    case nonceTaken
    /// Nothing was stored; why.
    case storage(String)

    public var description: String {
        switch self {
        case .nonceTaken: "this nonce was used for another message"
        case .storage(let reason): "not stored: \(reason)"
        }
    }
}
