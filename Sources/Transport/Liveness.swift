/// When a chat link was last heard and written, and what follows from that.
///
/// Pure: instants in, verdicts out.
struct Liveness: Sendable {
    enum Verdict: Equatable {
        case ping, silent, dead
    }

    private(set) var lastRead: Instant
    private(set) var lastWritten: Instant
    private var lastPing: Instant
    private var nextSilent: Instant
    private let pingAfter: Duration

    /// - Parameters:
    ///   - now: When the link came up.
    ///   - limits: Timers.
    ///   - isDialler: Whether we dialled the link. The acceptor is half as patient again: as a rule the dialler has pinged
    ///     by then, and the answer makes a second Ping needless.
    init(now: Instant, limits: TransportLimits, isDialler: Bool) {
        pingAfter = isDialler ? limits.pingAfter : limits.pingAfter * 3 / 2
        lastRead = now
        lastWritten = now
        lastPing = now
        nextSilent = now.advanced(by: limits.silentAfter)
    }

    mutating func didRead(_ now: Instant, limits: TransportLimits) {
        lastRead = now
        nextSilent = now.advanced(by: limits.silentAfter)
    }

    mutating func didWrite(_ now: Instant) { lastWritten = now }

    func isSilent(_ now: Instant, limits: TransportLimits) -> Bool { now - lastRead >= limits.silentAfter }

    /// The next instant at which ``judge(_:limits:)`` may have something to say, if nothing happens until then.
    func next(_ limits: TransportLimits) -> Instant {
        min(pingDue, nextSilent, lastRead.advanced(by: limits.deadAfter))
    }

    /// - Parameters:
    ///   - now: For when.
    ///   - limits: Timers.
    ///   - margin: How much too early a Ping may go, so that many links' go together.
    /// - Returns: What follows now; silence and Pings are told once for each time they are due.
    mutating func judge(_ now: Instant, limits: TransportLimits, margin: Duration = .zero) -> [Verdict] {
        if now - lastRead >= limits.deadAfter { return [.dead] }
        var verdicts: [Verdict] = []
        if pingDue <= now.advanced(by: margin) {
            lastPing = now
            verdicts.append(.ping)
        }
        if nextSilent <= now {
            nextSilent = now.advanced(by: limits.silentRepeat)
            verdicts.append(.silent)
        }
        return verdicts
    }

    /// A Ping that can't be written isn't repeated at once.
    private var pingDue: Instant { max(lastWritten, lastPing).advanced(by: pingAfter) }
}
