public import FoundationEssentials
public import Rx

/// A point on a test's clock, in ticks.
public typealias TestTime = Int

/// Counts in whole ticks.
public struct TestSchedulerVirtualTimeConverter: VirtualTimeConverterType {
    private let resolution: Double  // seconds a tick

    init(resolution: Double) { self.resolution = resolution }

    public func convertFromVirtualTime(_ virtualTime: TestTime) -> RxTime {
        RxTime(timeIntervalSince1970: convertFromVirtualTimeInterval(virtualTime))
    }
    public func convertToVirtualTime(_ time: RxTime) -> TestTime {
        convertToVirtualTimeInterval(time.timeIntervalSince1970)
    }
    public func convertFromVirtualTimeInterval(_ virtualTimeInterval: Int) -> TimeInterval {
        TimeInterval(virtualTimeInterval) * resolution
    }
    public func convertToVirtualTimeInterval(_ timeInterval: TimeInterval) -> Int {
        Int((timeInterval / resolution).rounded())
    }
    public func offsetVirtualTime(_ time: TestTime, offset: Int) -> TestTime { time + offset }
    public func compareVirtualTime(_ lhs: TestTime, _ rhs: TestTime) -> VirtualTimeComparison {
        if lhs < rhs { .lessThan } else if lhs > rhs { .greaterThan } else { .equal }
    }
}
