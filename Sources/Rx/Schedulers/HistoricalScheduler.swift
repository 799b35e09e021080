public import FoundationEssentials

/// Virtual time that is counted in dates.
///
/// `@unchecked`: it adds no state.
public class HistoricalScheduler: VirtualTimeScheduler<HistoricalSchedulerTimeConverter>, @unchecked Sendable {
    /// Makes a clock.
    public init(initialClock: RxTime = RxTime(timeIntervalSince1970: 0)) {
        super.init(initialClock: initialClock, converter: HistoricalSchedulerTimeConverter())
    }
}

/// Counts virtual time in dates, and its distances in seconds.
public struct HistoricalSchedulerTimeConverter: VirtualTimeConverterType {
    /// Converts a point in virtual time.
    public func convertFromVirtualTime(_ virtualTime: RxTime) -> RxTime { virtualTime }

    /// Converts a point in real time.
    public func convertToVirtualTime(_ time: RxTime) -> RxTime { time }

    /// Converts a distance, to seconds.
    public func convertFromVirtualTimeInterval(_ virtualTimeInterval: TimeInterval) -> TimeInterval {
        virtualTimeInterval
    }

    /// Converts a distance given in seconds.
    public func convertToVirtualTimeInterval(_ timeInterval: TimeInterval) -> TimeInterval { timeInterval }

    /// Moves a point by a distance.
    public func offsetVirtualTime(_ time: RxTime, offset: TimeInterval) -> RxTime { time.addingTimeInterval(offset) }

    /// Says how two points lie.
    public func compareVirtualTime(_ lhs: RxTime, _ rhs: RxTime) -> VirtualTimeComparison {
        if lhs < rhs { .lessThan } else if lhs > rhs { .greaterThan } else { .equal }
    }
}
