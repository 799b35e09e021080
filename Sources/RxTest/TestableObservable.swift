import Locking
public import Rx

/// A source made of recorded events, which notes who subscribes and when.
public final class TestableObservable<Element: Sendable>: ObservableType {
    private let log: Locked<[Subscription]>
    private let source: Observable<Element>

    /// What it sends.
    public let recordedEvents: [Recorded<Event<Element>>]

    /// When it was subscribed to, in order of subscription.
    public var subscriptions: [Subscription] { log.withLock { $0 } }

    private init(
        _ events: [Recorded<Event<Element>>], on scheduler: TestScheduler,
        _ subscribe: @escaping @Sendable (AnyObserver<Element>) -> any Disposable
    ) {
        let log = Locked<[Subscription]>([])
        self.log = log
        recordedEvents = events
        source = .create { observer in
            let index = log.withLock { log in
                log.append(Subscription(scheduler.clock))
                return log.count - 1
            }
            let subscription = subscribe(observer)
            return Disposables.create {
                subscription.dispose()
                log.withLock { $0[index] = Subscription($0[index].subscribe, scheduler.clock) }
            }
        }
    }

    static func hot(_ events: [Recorded<Event<Element>>], on scheduler: TestScheduler) -> TestableObservable {
        let subject = PublishSubject<Event<Element>>()  // doesn't end with the events: it sends to whoever comes later
        for event in events { scheduler.scheduleAt(event.time) { subject.onNext(event.value) } }
        return TestableObservable(events, on: scheduler) { observer in subject.subscribe(onNext: { observer.on($0) }) }
    }

    static func cold(_ events: [Recorded<Event<Element>>], on scheduler: TestScheduler) -> TestableObservable {
        TestableObservable(events, on: scheduler) { observer in
            Disposables.create(
                events.map { event in
                    scheduler.scheduleRelativeVirtual((), dueTime: event.time) {
                        observer.on(event.value)
                        return Disposables.create()
                    }
                })
        }
    }

    /// Subscribes an observer; see ``Rx/ObservableType``.
    public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Element { source.subscribe(observer) }

    /// The same as an ``Rx/Observable``.
    public func asObservable() -> Observable<Element> { source }
}

/// When a source was subscribed to, and when it was let go of.
public struct Subscription: Sendable, Hashable {
    /// When it was subscribed to, in ticks.
    public let subscribe: TestTime

    /// When it was let go of, in ticks; the largest number if it wasn't.
    public let unsubscribe: TestTime

    /// A subscription that goes on.
    public init(_ subscribe: TestTime) { self.init(subscribe, .max) }

    /// A subscription that is over.
    public init(_ subscribe: TestTime, _ unsubscribe: TestTime) {
        self.subscribe = subscribe
        self.unsubscribe = unsubscribe
    }
}

extension Subscription: CustomDebugStringConvertible {
    /// For debuggers and failed tests; the form may change.
    public var debugDescription: String {
        "(\(subscribe) : \(unsubscribe == .max ? "infinite" : "\(unsubscribe)"))"
    }
}
