public import FoundationEssentials

/// A point in time, for operators that only ask how long ago it was.
@frozen @usableFromInline struct Instant: Sendable {
    @usableFromInline let time: RxTime

    @usableFromInline init(_ scheduler: any SchedulerType) { time = scheduler.now }

    /// In seconds; negative if it was after `now`.
    @usableFromInline func elapsed(at now: Instant) -> Double { now.time.timeIntervalSince(time) }
}
