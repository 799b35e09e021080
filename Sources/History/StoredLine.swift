public import ChatModel
public import Identity

/// How an image's journey ended on this host.
public enum ImageOutcome: Hashable, Sendable {
    /// It is here, at this path.
    case received(String)
    /// We didn't want it; why.
    case refused(String)
    /// It didn't come; why.
    case failed(String)
    /// Ours, and its transfer is over.
    case sent
}

/// An event as it is shown: one line of the conversation.
public struct StoredLine: Hashable, Sendable {
    /// Where a line stands on the screen: the same on every host, but for an event from further ahead than
    /// ``History/maximumClockLead``, which stands where it arrived.
    public struct Position: Hashable, Comparable, Sendable {
        public var clock: HybridTime
        public var author: PeerID
        public var number: UInt64
        public var id: EventID

        public init(clock: HybridTime, author: PeerID, number: UInt64, id: EventID) {
            self.clock = clock
            self.author = author
            self.number = number
            self.id = id
        }

        public static func < (left: Position, right: Position) -> Bool {
            (left.clock, left.author, left.number, left.id) < (right.clock, right.author, right.number, right.id)
        }
    }

    public var id: EventID
    public var log: LogID
    public var number: UInt64
    public var kind: EventKind
    public var clock: HybridTime
    /// The author's wall clock in milliseconds since 1970.
    public var wallTime: UInt64
    public var body: [UInt8]
    /// Counts up, with gaps, in the order in which events came to this database.
    public var arrival: Int64
    /// When it came to this database, in milliseconds since 1970.
    public var arrived: UInt64
    public var position: Position
    /// `nil` for a text, and for an image that is still on its way.
    public var image: ImageOutcome?
    /// How many events directly before it in its log we don't hold.
    public var missing: UInt64 = 0

    /// Whether the author's clock was too far ahead to be believed.
    public var isFromTheFuture: Bool { position.clock != clock }
}

/// Where a log ends.
public struct LogHead: Hashable, Sendable {
    public var last: UInt64
    public var lastID: EventID

    public init(last: UInt64, lastID: EventID) {
        self.last = last
        self.lastID = lastID
    }

    init(_ ranges: EventRanges) { self.init(last: ranges.last, lastID: ranges.lastID) }
}

/// What became of an own event that was to be appended.
public enum AppendResult: Hashable, Sendable {
    case appended(EventID, number: UInt64)
    /// Its nonce is known with the same kind and body: it was sent again.
    case repeated(EventID)
    /// Its nonce is known with another kind or body.
    case nonceTaken
}

/// What became of a batch from a peer.
public enum StoreResult: Hashable, Sendable {
    /// On disk; these are the numbers that we didn't have, ascending.
    case stored([NewEvents])
    /// We have all of it.
    case known
    /// It would leave more gaps in its log than may be (``EventRanges/maximumCount``), so it was not stored.
    case gap
    /// Its author gave one number to two events, now or earlier in this incarnation; not stored.
    case forked
}

/// Somebody whom we have met.
public struct KnownPeer: Hashable, Sendable {
    public var peer: PeerID
    public var record: PeerRecord
}

/// What was found when the history was opened.
public struct HistoryOpened: Sendable {
    public var ranges: [LogID: EventRanges]
    /// Where own events go.
    public var ownLog: LogID
    /// Whether ``ownLog`` was opened just now, so that nobody can hold events of it that we lack.
    public var isNewIncarnation: Bool
    /// Logs whose authors gave one number to two events, with the batch that contradicts ours.
    public var forks: [LogID: Batch]
    /// The latest clock of any event, as far as it is believed.
    public var latestClock: HybridTime
    /// Images without an outcome, in the order of their arrival.
    public var unfinishedImages: [StoredLine]
    /// What the user should be told, one line.
    public var notice: String?
}
