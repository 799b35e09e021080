import Locking
public import Rx

/// Notes what it is sent, and when.
public final class TestableObserver<Element: Sendable>: ObserverType {
    private let scheduler: TestScheduler
    private let recorded = Locked<[Recorded<Event<Element>>]>([])

    init(_ scheduler: TestScheduler) { self.scheduler = scheduler }

    /// What it was sent, in order.
    public var events: [Recorded<Event<Element>>] { recorded.withLock { $0 } }

    /// Takes an event.
    public func on(_ event: Event<Element>) {
        let entry = Recorded(time: scheduler.clock, value: event)
        recorded.withLock { $0.append(entry) }
    }
}
