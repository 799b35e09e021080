/// Every timer and limit of the room's reducer, so that a test can shrink them (docs/protocol.md, "Figures").
///
/// Times are in milliseconds.
public struct RoomLimits: Hashable, Sendable {
    /// How long a peer whose link closed without a goodbye still counts as present.
    public var grace: UInt64 = 1_500
    /// The first pause between two dials of one peer; doubles up to `dialPauseLimit`.
    public var dialPause: UInt64 = 100
    public var dialPauseLimit: UInt64 = 1_000
    /// After so long without success, dials are `slowDialPause` apart.
    public var eagerDialPeriod: UInt64 = 600_000
    public var slowDialPause: UInt64 = 30_000
    /// Dials under way, those of silent links and of the user's places left out.
    public var dialsAtOnce = 8
    /// Of these, by old addresses or rumours alone.
    public var dialsOnMemory = 6
    /// Of these, of peers that have never proven their key.
    public var dialsOnRumour = 4
    /// Peers that are only talked of, and announced members of a keyed room.
    public var maximumNewcomers = 64
    public var maximumSightings = 256
    /// How old a hint may be.
    public var hintLife: UInt64 = 7 * 86_400_000
    /// Dials on one member's hints within `hintPeriod` that led nowhere, before it isn't listened to.
    public var hintDials = 8
    public var hintPeriod: UInt64 = 60_000
    /// Hints of one member that are verified within `hintPeriod`.
    public var hintsVerified = 256
    /// Known peers that are dialled at the start.
    public var maximumRemembered = 64
    /// How long a link must have held for its end to be met with a dial at once.
    public var steadyLink: UInt64 = 5_000
    /// The pause before an incompatible peer is dialled again.
    public var incompatiblePause: UInt64 = 60_000
    /// How long events of a linked author are awaited before they are asked for.
    public var wantDelay: UInt64 = 500
    /// How long an answer may pause before another holder is asked.
    public var wantTimeout: UInt64 = 5_000
    /// How many events one request names.
    public var wantLength: UInt64 = 2_048
    /// How many events one holder has been asked for at once, of all logs.
    public var wantAhead: UInt64 = 4_096
    /// How long the first own event after a start waits for a peer's word on our log.
    public var headsPatience: UInt64 = 2_000
    /// How many holders are asked at once for parts of one log.
    public var wantsOfOneLog = 2
    /// How long changes of what we have are gathered for those who didn't send them.
    public var haveDelay: UInt64 = 200
    /// The same for those who get the same from its author; a little less than a second, so that it spares the link a Ping.
    public var slowHaveDelay: UInt64 = 900
    /// The pause between two receipts, and between two times at which those of others are passed on.
    public var receiptPause: UInt64 = 1_000
    /// How long a new link waits for receipts of others, who may be linked by then.
    public var receiptPatience: UInt64 = 2_000
    /// How long after it was seen last a peer counts as a member, for whom messages are.
    public var memberPeriod: UInt64 = 7 * 24 * 3_600_000
    /// How much an author may push to a peer before it says that it has that, in events and bytes.
    public var pushAhead = 4_096
    public var pushAheadLength = 4 << 20
    /// Chunks asked for and not yet here, of one blob.
    public var chunksInFlight = 4
    /// How long a blob's source may pause before another is asked.
    public var fetchTimeout: UInt64 = 10_000
    /// The first pause before those who didn't deliver a blob are asked again; doubles up to `fetchPauseLimit`.
    public var fetchPause: UInt64 = 1_000
    public var fetchPauseLimit: UInt64 = 60_000
    /// How many ended arrivals are told to their authors again when these are linked anew.
    public var endsKept = 64
    /// The largest image fetched without asking, in bytes.
    public var autoFetch: UInt64 = 32 << 20
    /// How far a peer's clock may pull ours ahead of our wall clock.
    public var clockLead: UInt64 = 600_000
    /// Logs of authors that we never met, before further ones are left out.
    public var maximumLogs = 4_096

    /// Logs of one author, before further ones wait until the user trusts it.
    public var maximumLogsOfOne = 64

    /// How many may wait to be let in, and for how long.
    public var maximumWaiting = 8
    public var waitingTime: UInt64 = 300_000
    /// Peers that were met, have written nothing and aren't here, before the one seen longest ago is forgotten.
    public var maximumGuests = 500
    /// Authors never met on a link of our own, before the events of further ones are left out.
    public var maximumStrangers = 256

    public init() {}
}
