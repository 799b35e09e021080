import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct SubjectTests {
    @Test func `a publish subject sends what comes, to those who are there`() {
        let subject = PublishSubject<Int>()
        let early = Log<String>(), late = Log<String>()
        subject.onNext(0)
        let subscription = subject.subscribe { early.add("\($0)") }
        subject.onNext(1)
        _ = subject.subscribe { late.add("\($0)") }
        subject.onNext(2)
        subscription.dispose()
        subject.onNext(3)
        subject.onCompleted()
        subject.onNext(4)
        #expect(early.all == ["next(1)", "next(2)"])
        #expect(late.all == ["next(2)", "next(3)", "completed"])
    }

    @Test func `a subject's ending is for later subscribers too`() {
        let completed = PublishSubject<Int>(), failed = BehaviorSubject(value: 1)
        completed.onCompleted()
        failed.onNext(2)
        failed.onError(Failure())
        let log = Log<String>()
        _ = completed.subscribe { log.add("\($0)") }
        _ = failed.subscribe { log.add("\($0)") }
        #expect(log.all == ["completed", "error(Failure())"])
    }

    @Test func `subjects know whether anybody is there`() {
        let publish = PublishSubject<Int>(), behavior = BehaviorSubject(value: 0)
        #expect(!publish.hasObservers && !behavior.hasObservers)
        let subscriptions = [publish.subscribe(), behavior.subscribe()]
        #expect(publish.hasObservers && behavior.hasObservers)
        for subscription in subscriptions { subscription.dispose() }
        #expect(!publish.hasObservers && !behavior.hasObservers)
        _ = [publish.subscribe(), behavior.subscribe()]
        publish.onCompleted()
        behavior.onCompleted()
        #expect(!publish.hasObservers && !behavior.hasObservers)
    }

    @Test func `a disposed subject lets go without an event, and fails who subscribes later`() throws {
        let publish = PublishSubject<Int>(), behavior = BehaviorSubject(value: 0)
        let log = Log<String>()
        _ = publish.subscribe { log.add("\($0)") }
        _ = behavior.subscribe { log.add("\($0)") }
        publish.dispose()
        behavior.dispose()
        publish.onNext(1)
        behavior.onNext(1)
        #expect(log.all == ["next(0)"])
        #expect(publish.isDisposed && behavior.isDisposed)
        #expect(throws: RxError.self) { try behavior.value() }
        _ = publish.subscribe(onError: { log.add($0 is RxError ? "disposed" : "\($0)") })
        _ = behavior.subscribe(onError: { log.add($0 is RxError ? "disposed" : "\($0)") })
        #expect(log.all == ["next(0)", "disposed", "disposed"])
    }

    @Test func `a behavior subject gives its latest element first`() throws {
        let subject = BehaviorSubject(value: 1)
        let log = Log<String>()
        _ = subject.subscribe { log.add("\($0)") }
        subject.onNext(2)
        #expect(try subject.value() == 2)
        subject.onCompleted()
        subject.onNext(3)
        #expect(try subject.value() == 2)
        #expect(log.all == ["next(1)", "next(2)", "completed"])
    }

    @Test func `a behavior subject that failed throws for its value`() {
        let subject = BehaviorSubject(value: 1)
        subject.onError(Failure())
        #expect(throws: Failure.self) { try subject.value() }
    }

    @Test func `a relay is a sequence of its values, and its observers outlive no more than its sequence`() {
        let log = Log<Int>()
        let values: Observable<Int>
        do {
            let relay = BehaviorRelay(value: 1)
            values = relay.asObservable()
            _ = values.subscribe(onNext: { log.add($0) })
            relay.accept(2)
        }
        _ = values.subscribe(onNext: { log.add($0 * 10) })
        #expect(log.all == [1, 2, 20])
    }

    @Test func `a publish relay passes on what it accepts`() {
        let relay = PublishRelay<Int>()
        let log = Log<Int>()
        relay.accept(0)
        let subscription = relay.map { $0 * 2 }.subscribe(onNext: { log.add($0) })
        relay.accept(1)
        subscription.dispose()
        relay.accept(2)
        #expect(log.all == [2])
    }

    @Test func `an element whose deinit sends into the relay that held it doesn't hang`() {
        final class Last: Sendable {
            let relay: BehaviorRelay<Last?>
            init(_ relay: BehaviorRelay<Last?>) { self.relay = relay }
            deinit { relay.accept(nil) }
        }
        let log = Log<Bool>()
        #expect(
            finishes {
                let relay = BehaviorRelay<Last?>(value: nil)
                _ = relay.subscribe(onNext: { log.add($0 == nil) })
                relay.accept(Last(relay))
                relay.accept(nil)
            })
        #expect(log.all == [true, false, true, true])
    }

    @Test func `an observer made for other elements passes on what it makes of them`() {
        let subject = PublishSubject<Int>()
        let log = Log<String>()
        _ = subject.subscribe { log.add("\($0)") }
        let words: AnyObserver<String> = subject.mapObserver { word in
            guard let number = Int(word) else { throw Failure() }
            return number
        }
        words.onNext("1")
        words.asObserver().onNext("two")
        #expect(log.all == ["next(1)", "error(Failure())"])
    }

    @Test func `events tell what they are`() {
        let next = Event.next(1), failed = Event<Int>.error(Failure()), completed = Event<Int>.completed
        #expect([next, failed, completed].map(\.element) == [1, nil, nil])
        #expect([next, failed, completed].map { $0.error is Failure } == [false, true, false])
        #expect([next, failed, completed].map(\.isCompleted) == [false, false, true])
        #expect([next, failed, completed].map(\.isStopEvent) == [false, true, true])
        #expect(next.map { "\($0)" } == .next("1"))
        #expect(next.map { _ -> Int in throw Failure() } == .error(Failure()))
        #expect(completed.map { $0 } == .completed)
    }
}
