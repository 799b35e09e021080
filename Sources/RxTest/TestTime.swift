public import FoundationEssentials
public import Rx

/// A point on a test's clock, in ticks.
public typealias TestTime = Int

/// Counts in whole ticks.
public struct TestSchedulerVirtualTimeConverter: VirtualTimeConverterType {
    private let resolution: Double  // seconds a tick

    init(resolution: Double) { self.resolution = resolution }

    /// Converts a point in virtual time.
    public func convertFromVirtualTime(_ virtualTime: TestTime) -> RxTime {
        RxTime(timeIntervalSince1970: convertFromVirtualTimeInterval(virtualTime))
    }

    /// Converts a point in real time.
    public func convertToVirtualTime(_ time: RxTime) -> TestTime {
        convertToVirtualTimeInterval(time.timeIntervalSince1970)
    }

    /// Converts a distance, to seconds.
    public func convertFromVirtualTimeInterval(_ virtualTimeInterval: Int) -> TimeInterval {
        TimeInterval(virtualTimeInterval) * resolution
    }

    /// Converts a distance given in seconds.
    public func convertToVirtualTimeInterval(_ timeInterval: TimeInterval) -> Int {
        Int((timeInterval / resolution).rounded())
    }

    /// Moves a point by a distance.
    public func offsetVirtualTime(_ time: TestTime, offset: Int) -> TestTime { time + offset }

    /// Says how two points lie.
    public func compareVirtualTime(_ lhs: TestTime, _ rhs: TestTime) -> VirtualTimeComparison {
        if lhs < rhs { .lessThan } else if lhs > rhs { .greaterThan } else { .equal }
    }
}
