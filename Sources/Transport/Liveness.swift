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

    init(now: Instant, limits: TransportLimits) {
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
        min(pingDue(limits), nextSilent, lastRead.advanced(by: limits.deadAfter))
    }

    mutating func judge(_ now: Instant, limits: TransportLimits) -> [Verdict] {
        if now - lastRead >= limits.deadAfter { return [.dead] }
        var verdicts: [Verdict] = []
        if pingDue(limits) <= now {
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
    private func pingDue(_ limits: TransportLimits) -> Instant {
        max(lastWritten, lastPing).advanced(by: limits.pingAfter)
    }
}
