public import Addressing
public import Identity

/// Something that happened to the room, with the time at which it did.
public struct RoomInput: Sendable {
    public var event: RoomEvent
    /// On a clock that never jumps, in milliseconds.
    public var now: UInt64
    /// The wall clock, in milliseconds since 1970.
    public var wall: UInt64

    public init(_ event: RoomEvent, now: UInt64, wall: UInt64) {
        self.event = event
        self.now = now
        self.wall = wall
    }
}

/// What the feedback loops tell the room.
public enum RoomEvent: Sendable {
    // Discovery
    case found(PeerID, instance: String, endpoints: [Endpoint])
    case lost(PeerID)
    /// A member of a keyed room is announced; who it is only a link tells.
    case sighted(instance: String, endpoints: [Endpoint])
    case vanished(instance: String)
    /// Where we are to be dialled from now on; `nil` where nobody may be told.
    case ownHint(PeerHint?)
    /// Hints that a peer sent, and that their subjects have signed.
    case hinted(by: PeerID, [PeerID: PeerHint])

    // Links
    case linkUp(PeerID, endpoint: Endpoint, isDialler: Bool)
    case message(PeerID, SessionMessage)
    case malformed(PeerID, WireError)
    /// Nothing came for a while; repeated until something does, or the link is down.
    case silent(PeerID)
    case linkDown(PeerID, LinkEnding)
    case blobLinkDown(PeerID)
    case dialled(DialNumber, DialOutcome)
    case clone(PeerID)

    // Storage
    case appended([Appended], [Batch])
    case appendFailed([CommandID], AppendFailure)
    case stored(from: PeerID, [StoredBatch])
    case batchRefused(from: PeerID, BatchError)
    case answered(by: PeerID, Want)
    /// A receipt's signature holds; our own has been signed.
    case receiptVerified(Receipt)
    case receiptRefused(Receipt, from: PeerID)
    /// Its question was answered; the next one may be.
    case verifyAnswered(PeerID)

    // Blobs
    case blobProgress(BlobRoot, BlobProgress)
    case blobHashesRefused(BlobRoot, from: PeerID)
    case chunkRefused(BlobRoot, chunk: UInt32, from: PeerID)
    case blobFailed(BlobRoot, reason: String)
    case placed(EventID, path: String)
    case placeFailed(EventID, reason: String)

    // Time and people
    case tick
    /// In this order, as if each had come by itself.
    case say([Saying])
    case cancel(EventID)
    /// Ask everybody who is linked, or some of them, what is on their disks.
    case verify(UInt64, Set<PeerID>?)
    case decide(PeerID, PeerDecision, CommandID)
    /// A verdict is on disk.
    case judged(CommandID)
}

/// How a peer's last chat link ended.
public enum LinkEnding: Hashable, Sendable {
    /// It said goodbye: it won't be back soon.
    case left
    case closed
    case silent
    /// It broke the protocol; how.
    case violated(String)
}

/// A dial of the room's, numbered by it.
public struct DialNumber: Hashable, Sendable {
    public let value: UInt64
    public init(value: UInt64) { self.value = value }
}

/// How a dial ended.
public enum DialOutcome: Hashable, Sendable {
    case linked(PeerID)
    case refused
    case failed(String)

    /// Why it failed.
    var reason: String? {
        switch self {
        case .linked: nil
        case .refused: "nobody listens there"
        case .failed(let reason): reason
        }
    }
}

/// What a client wants said, before it has a clock.
public struct Saying: Hashable, Sendable {
    public var body: EventBody
    public var nonce: Nonce
    /// Whether the nonce was made here just now, so that no other event can have it.
    public var isNonceNew: Bool
    public var command: CommandID

    public init(_ body: EventBody, nonce: Nonce, isNonceNew: Bool = false, command: CommandID) {
        self.body = body
        self.nonce = nonce
        self.isNonceNew = isNonceNew
        self.command = command
    }
}

/// A request of a client's, to be replied to once.
public struct CommandID: Hashable, Sendable {
    public let value: UInt64
    public init(value: UInt64) { self.value = value }
}

/// What became of one draft.
public struct Appended: Hashable, Sendable {
    public var command: CommandID
    public var id: EventID
    public var number: UInt64
    /// Whether the nonce was known with this very text: then nothing new was stored.
    public var isRepeated: Bool
    /// Where it is in the order of arrival on our disk.
    public var arrival: Int64?

    public init(command: CommandID, id: EventID, number: UInt64, isRepeated: Bool) {
        self.command = command
        self.id = id
        self.number = number
        self.isRepeated = isRepeated
    }
}

/// Consecutive events that a host didn't have before.
public struct NewEvents: Hashable, Sendable {
    public var numbers: ClosedRange<UInt64>
    /// Where the first of them is in the order of arrival on our disk; the others follow it.
    public var arrival: Int64?

    public init(_ numbers: ClosedRange<UInt64>, arrival: Int64? = nil) {
        self.numbers = numbers
        self.arrival = arrival
    }
}

/// What the storage made of one batch from a peer.
public struct StoredBatch: Hashable, Sendable {
    public enum Result: Hashable, Sendable {
        /// These are new, in ascending order.
        case stored([NewEvents])
        case known
        /// It would leave more gaps than may be, and wasn't stored.
        case gap
        /// It contradicts what we have, under a seal that holds.
        case forked
    }

    public var batch: Batch
    public var result: Result

    public init(batch: Batch, result: Result) {
        self.batch = batch
        self.result = result
    }
}

/// How far a blob is on our disk.
public struct BlobProgress: Hashable, Sendable {
    public var hasHashes: Bool
    /// Indexes of chunks that aren't here, in order; meaningless without the hashes.
    public var missing: [Int]
    /// In bytes.
    public var verified: UInt64
    public var isComplete: Bool

    public init(hasHashes: Bool, missing: [Int], verified: UInt64, isComplete: Bool) {
        self.hasHashes = hasHashes
        self.missing = missing
        self.verified = verified
        self.isComplete = isComplete
    }
}
