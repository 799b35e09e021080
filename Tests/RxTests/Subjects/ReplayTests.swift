import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct ReplayTests {
    @Test func `a replay subject gives the latest elements first, and the ending`() {
        let subject = ReplaySubject<Int>.create(bufferSize: 2)
        let first = Log<String>(), second = Log<String>(), third = Log<String>()
        _ = subject.subscribe { first.add("\($0)") }
        for number in 1...3 { subject.onNext(number) }
        let subscription = subject.subscribe { second.add("\($0)") }
        #expect(subject.hasObservers)
        subject.asObserver().onNext(4)
        subscription.dispose()
        subject.onCompleted()
        subject.onNext(5)
        _ = subject.subscribe { third.add("\($0)") }
        #expect(first.all == ["next(1)", "next(2)", "next(3)", "next(4)", "completed"])
        #expect(second.all == ["next(2)", "next(3)", "next(4)"])
        #expect(third.all == ["next(3)", "next(4)", "completed"])
        #expect(!subject.hasObservers)
    }

    @Test func `an unbounded one gives all, and the error`() {
        let subject = ReplaySubject<Int>.createUnbounded()
        for number in 0..<100 { subject.onNext(number) }
        subject.onError(Failure())
        let log = Log<Int>(), errors = Log<String>()
        _ = subject.subscribe(onNext: { log.add($0) }, onError: { errors.add("\($0)") })
        #expect(log.all == Array(0..<100))
        #expect(errors.all == ["Failure()"])
        let few = Log<Int>()
        _ = subject.take(3).subscribe(onNext: { few.add($0) })
        #expect(few.all == [0, 1, 2])
    }

    @Test func `a disposed replay subject lets go of all, and says so to later subscribers`() {
        let subject = ReplaySubject<Int>.create(bufferSize: 2)
        weak var observed: Canary?
        do {
            let canary = Canary()
            observed = canary
            _ = subject.subscribe { _ in withExtendedLifetime(canary) {} }
        }
        subject.onNext(1)
        subject.dispose()
        subject.onNext(2)
        let log = Log<Bool>()
        _ = subject.subscribe { log.add($0.error is RxError) }
        #expect(observed == nil && subject.isDisposed && !subject.hasObservers)
        #expect(log.all == [true])
    }

    @Test func `an element whose deinit sends into its own subject doesn't hang`() {
        final class Sender: Sendable {
            let number: Int
            let subject: PublishSubject<Int>
            init(_ number: Int, _ subject: PublishSubject<Int>) { self.number = number; self.subject = subject }
            deinit { subject.onNext(number) }
        }
        let log = Log<Int>()
        let deaths = PublishSubject<Int>()
        _ = deaths.subscribe(onNext: { log.add($0) })
        let isDone = finishes {
            let replay = ReplaySubject<Sender>.create(bufferSize: 1)
            let behavior = BehaviorSubject(value: Sender(0, deaths))
            let async = AsyncSubject<Sender>()
            for number in 1...3 {
                replay.onNext(Sender(number, deaths))
                behavior.onNext(Sender(10 * number, deaths))
                async.onNext(Sender(100 * number, deaths))
            }
        }
        #expect(isDone)
        #expect(log.all.sorted() == [0, 1, 2, 3, 10, 20, 30, 100, 200, 300])
    }

    @Test func `an async subject sends the last element at the completion, to whoever comes`() {
        let subject = AsyncSubject<Int>()
        let log = Log<String>()
        _ = subject.subscribe { log.add("\($0)") }
        #expect(subject.hasObservers)
        subject.onNext(1)
        subject.onNext(2)
        #expect(log.all == [])
        subject.asObserver().onCompleted()
        subject.onNext(3)
        subject.onCompleted()
        _ = subject.subscribe { log.add("\($0)") }
        #expect(log.all == ["next(2)", "completed", "next(2)", "completed"])
        #expect(!subject.hasObservers)
    }

    @Test func `an async subject keeps nothing that comes after its ending`() {
        let subject = AsyncSubject<Canary>()
        subject.onCompleted()
        weak var late: Canary?
        do {
            let canary = Canary()
            late = canary
            subject.onNext(canary)
        }
        #expect(late == nil)
    }

    @Test func `an async subject that fails, or is empty, sends no element`() {
        let failing = AsyncSubject<Int>(), empty = AsyncSubject<Int>()
        let log = Log<String>()
        failing.onNext(1)
        failing.onError(Failure())
        empty.onCompleted()
        for subject in [failing, empty] { _ = subject.subscribe { log.add("\($0)") } }
        #expect(log.all == ["error(Failure())", "completed"])
    }

    @Test func `replay relays give the latest elements first, and never end`() {
        let log = Log<Int>()
        let relay = ReplayRelay<Int>.create(bufferSize: 1), all = ReplayRelay<Int>.createUnbound()
        for number in 1...2 {
            relay.accept(number)
            all.accept(number)
        }
        _ = relay.subscribe(onNext: { log.add($0) })
        _ = all.asObservable().subscribe(onNext: { log.add($0) })
        let observer = TestScheduler().createObserver(Int.self)
        _ = all.subscribe(observer)
        #expect(log.all == [2, 1, 2])
        #expect(observer.events.map(\.value.element) == [1, 2])
    }

    @Test func `bind sends to observers and relays`() {
        let publish = PublishRelay<Int>(), behavior = BehaviorRelay(value: 0), replay = ReplayRelay<Int>.createUnbound()
        let log = Log<String>()
        _ = publish.subscribe { log.add("\($0)") }
        let observer = AnyObserver<Int> { log.add("\($0)") }
        let source = Observable.of(1, 2)
        _ = source.bind(to: publish)
        _ = source.bind(to: behavior)
        _ = source.bind(to: replay)
        _ = source.bind(to: observer, observer)
        _ = Infallible.just(3).bind(to: observer)
        #expect(behavior.value == 2)
        #expect(
            log.all == [
                "next(1)", "next(2)", "next(1)", "next(1)", "next(2)", "next(2)", "completed", "completed", "next(3)",
                "completed",
            ])
    }
}
