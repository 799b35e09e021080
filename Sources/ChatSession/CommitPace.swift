/// How soon the next commit may follow: at once, but where there are many, so that each has more in it.
///
/// Pure; all times in nanoseconds on one clock.
struct CommitPace: Sendable {
    /// Above so many commits within the period they are spaced (docs/protocol.md, "Events, ids, seals").
    private static let many = 10
    private static let period: UInt64 = 100_000_000
    private static let spacing: UInt64 = 10_000_000
    private static let patience: UInt64 = 5_000_000

    /// When the newest commits began, oldest first.
    private var begun: [UInt64] = []

    /// How long a commit of what comes now is put off.
    func delay(now: UInt64) -> UInt64 {
        guard begun.count == Self.many, let oldest = begun.first, let newest = begun.last, now < oldest + Self.period
        else { return 0 }
        return newest + Self.spacing > now ? min(newest + Self.spacing - now, Self.patience) : 0
    }

    mutating func began(now: UInt64) {
        if begun.count == Self.many { begun.removeFirst() }
        begun.append(now)
    }
}
