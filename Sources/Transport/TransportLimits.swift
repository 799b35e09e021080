/// Every timer and limit of ``Transport``, by docs/protocol.md; tests shrink them.
public struct TransportLimits: Sendable {
    /// How long an address may let a connection wait, in which TCP asks it twice.
    public var connecting: Duration = .seconds(2)
    /// From accept, or from the start of a dial, until both Link frames and greetings are there.
    public var opening: Duration = .seconds(5)
    /// How long one dial that replaces a silent link may take.
    public var redial: Duration = .seconds(1)
    /// Between the starts of two addresses of one dial.
    public var stagger: Duration = .milliseconds(200)

    /// A side that has written nothing for so long on a chat link sends a Ping.
    public var pingAfter: Duration = .seconds(1)
    /// A chat link on which nothing came for so long is called silent.
    public var silentAfter: Duration = .seconds(3)
    /// Between two ``TransportEvent/silent(_:)`` of one link.
    public var silentRepeat: Duration = .seconds(1)
    /// A chat link on which nothing came for so long is closed.
    public var deadAfter: Duration = .seconds(15)
    /// A timer later than this shows that our own process stalled: nobody is judged by it.
    public var stall: Duration = .milliseconds(500)
    /// How long after a stall the next judgement waits.
    public var afterStall: Duration = .milliseconds(250)
    /// How long an old link has to answer a Ping when another process shows its PeerID.
    public var cloneProbe: Duration = .seconds(2)

    /// How long a link that lost, or went idle, is read to its end.
    public var drain: Duration = .seconds(2)
    /// How long ``Transport/close()``, and a link closed for an error, may take to flush.
    public var closing: Duration = .milliseconds(500)
    /// A blob link without a byte either way for so long is closed.
    public var blobIdle: Duration = .seconds(10)

    /// Bytes that a connection may send in its opening.
    public var openingBytes = 16 * 1024
    /// Steps of openings that are computed at once.
    public var handshakes = 2
    /// Connections in their opening, in all.
    public var unauthenticated = 64
    /// Of these, kept for addresses at which peers are or were.
    public var reservedForKnown = 16
    /// From how many on those from other addresses are refused by chance: more often the more there are.
    public var earlyDrop = 32
    /// Addresses at which peers are or were; the oldest are forgotten.
    public var knownAddresses = 1_024
    /// Addresses at which members say that somebody is; the oldest are forgotten.
    public var hintedAddresses = 512
    /// Openings from one address that may fail in a row before it is barred.
    public var failures = 8
    /// After how long one of them is forgotten.
    public var failureLeak: Duration = .seconds(1)
    /// How long an address is barred at first; each time twice as long as the time before.
    public var barred: Duration = .seconds(1)
    public var barredLongest: Duration = .seconds(60)
    /// After how long without a failure it begins at the first again; at least twice as long as it was barred.
    public var barredForgotten: Duration = .seconds(60)
    /// Whether connections from beyond our own links are taken from addresses at which no peer is known or hinted.
    public var takesRouted = false
    /// Of these, from one address (/32 or /128).
    public var unauthenticatedPerAddress = 4
    /// Of these, from one IPv6 /64 that is on one of our links, or from fe80::/10.
    public var unauthenticatedOnLink = 40
    /// Of these, from any other IPv6 /64.
    public var unauthenticatedOffLink = 4
    /// Connections that are accepted before others have their turn.
    public var acceptBatch = 64
    /// How long no connection is accepted once descriptors ran out.
    public var acceptPause: Duration = .milliseconds(100)
    /// Between two reports of one refusal from one address.
    public var reportInterval: Duration = .seconds(60)

    /// Most bytes that wait to be written on one link; beyond, it is closed.
    public var queuedBytes = 8 * 1024 * 1024
    /// Most links of one purpose with one peer.
    public var linksPerPeer = 4
    /// Bytes gathered for one write.
    public var writeBatch = 64 * 1024
    /// Reads, or writes, on one link before others have their turn.
    public var turns = 16
    /// Frames of one link that are dealt with before others have their turn.
    public var frameTurn = 256
    /// TCP_USER_TIMEOUT (tcp(7)).
    public var userTimeout: Duration = .seconds(15)
    /// TCP_NOTSENT_LOWAT in bytes (tcp(7)).
    public var notSentLowWater = 128 * 1024

    public init() {}
}

/// The clock of all timers: it stands still while the host sleeps.
typealias Instant = SuspendingClock.Instant

extension Duration {
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    var milliseconds: Int { nanoseconds / 1_000_000 }
}
