import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import ResourceCounting
import Testing

/// The forms of drivers and signals that differ from an observable's only in where they deliver.
@Suite(.countsResources) struct SharedSequenceKinTests {
    private let scheduler = TestScheduler()

    private func hot() -> TestableObservable<Int> {
        scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
    }

    /// What comes of a driver over 1, 2, 3 at 210, 220, 230 and the completion at 240, each a tick later.
    private func expect<Result: Equatable & Sendable>(
        _ events: [Recorded<Event<Result>>], sourceLocation: SourceLocation = #_sourceLocation,
        _ apply: @escaping @Sendable (Driver<Int>) -> Driver<Result>
    ) {
        let source = hot()
        let seen = scheduler.start { [scheduler] in apply(source.asDriver(onErrorJustReturn: 0, on: scheduler)) }
        #expect(seen.events == events, sourceLocation: sourceLocation)
        #expect(source.subscriptions == [Subscription(201, 240)], sourceLocation: sourceLocation)
        scheduler.start()
    }

    @Test func `just, empty and never are what an observable's are`() {
        let just = scheduler.start { [scheduler] in Driver.just(7, on: scheduler) }
        #expect(just.events == [.next(201, 7), .completed(201)])
        let empty = TestScheduler(), never = TestScheduler()
        #expect(empty.start { Signal<Int>.empty(on: empty) }.events == [.completed(201)])
        #expect(never.start { Driver<Int>.never(on: never) }.events.isEmpty)
        for clock in [scheduler, empty, never] { clock.start() }
    }

    @Test func `distinctUntilChanged looks at a key`() {
        expect([.next(211, 1), .next(221, 2), .completed(241)]) { $0.distinctUntilChanged { $0 > 1 } }
    }

    @Test func `do looks on`() {
        let log = Log<Int>()
        expect([.next(211, 1), .next(221, 2), .next(231, 3), .completed(241)]) { $0.do(onNext: { log.add($0) }) }
        #expect(log.all == [1, 2, 3])
    }

    @Test func `delay sends later`() {
        expect([.next(216, 1), .next(226, 2), .next(236, 3), .completed(246)]) { $0.delay(.seconds(5)) }
    }

    @Test func `debounce sends the last of a burst`() {
        expect([.next(241, 3), .completed(241)]) { $0.debounce(.seconds(15)) }
    }

    @Test(arguments: [true, false]) func `throttle sends at most one in a while`(latest: Bool) {
        let source = hot()
        let seen = scheduler.start { [scheduler] in
            source.asDriver(onErrorJustReturn: 0, on: scheduler).throttle(.seconds(15), latest: latest)
        }
        let first: [Recorded<Event<Int>>] = latest ? [.next(211, 1), .next(226, 2)] : [.next(211, 1), .next(231, 3)]
        #expect(Array(seen.events.prefix(2)) == first)
        #expect(seen.events.last?.value.isCompleted == true)
        scheduler.start()
    }

    @Test func `flatMap sends the elements of all, flatMapFirst of one at a time`() {
        expect([.next(211, 10), .next(221, 20), .next(231, 30), .completed(241)]) { [scheduler] driver in
            driver.flatMap { Driver.just(10 * $0, on: scheduler) }
        }
        let other = TestScheduler()
        let source = other.createHotObservable([.next(210, 1), .next(220, 2), .completed(240)])
        let seen = other.start {
            source.asSignal(onErrorJustReturn: 0, on: other).flatMapFirst { number in
                Observable<Int>.timer(.seconds(15), scheduler: other).map { _ in number }
                    .asSignal(onErrorJustReturn: 0, on: other)
            }
        }
        #expect(seen.events.compactMap(\.value.element) == [1])
        other.start()
    }

    @Test func `combineLatest takes three`() {
        let relays = (0..<3).map { BehaviorRelay(value: $0) }
        let log = Log<[Int]>()
        let drivers = relays.map { $0.asDriver(on: scheduler) }
        let all: Driver<[Int]> = .combineLatest(drivers[0], drivers[1], drivers[2]) { [$0, $1, $2] }
        let subscription = all.drive(onNext: { log.add($0) })
        scheduler.start()
        relays[1].accept(10)
        scheduler.start()
        #expect(log.all == [[0, 1, 2], [0, 10, 2]])
        subscription.dispose()
        scheduler.start()
    }

    @Test func `what fails goes on with another driver or signal`() {
        let log = Log<Int>()
        let failing = Observable<Int>.error(Failure())
        let subscriptions = [
            failing.asDriver(onErrorDriveWith: .just(1, on: scheduler), on: scheduler).drive(onNext: { log.add($0) }),
            failing.asSignal(onErrorJustReturn: 2, on: scheduler).emit(onNext: { log.add($0) }),
            failing.asSignal(onErrorRecover: { [scheduler] _ in .just(3, on: scheduler) }, on: scheduler)
                .emit(onNext: { log.add($0) }),
        ]
        scheduler.start()
        #expect(log.all.sorted() == [1, 2, 3])
        for subscription in subscriptions { subscription.dispose() }
        scheduler.start()
    }

    @Test func `what can't fail needs no answer to an error`() {
        let infallible = Infallible.of(1, 2)
        let driven = scheduler.start { [scheduler] in infallible.asDriver(on: scheduler) }
        #expect(driven.events.map(\.value) == [.next(1), .next(2), .completed])
        let other = TestScheduler()
        let told = other.start { infallible.asSignal(on: other) }
        #expect(told.events.map(\.value) == [.next(1), .next(2), .completed])
        for clock in [scheduler, other] { clock.start() }
    }

    @Test func `drive and emit take observers, of optionals too, relays, and a way of the caller's own`() {
        let plain = scheduler.createObserver(Int.self), optional = scheduler.createObserver(Int?.self)
        let behavior = BehaviorRelay(value: 0), publish = PublishRelay<Int>()
        let log = Log<Int>()
        let listening = publish.subscribe(onNext: { log.add($0) })
        let driver = Driver.just(1, on: scheduler), signal = Signal.just(2, on: scheduler)
        let subscriptions = [
            driver.drive(plain), driver.drive(optional), driver.drive(behavior), signal.emit(to: plain),
            signal.emit(to: optional), signal.emit(to: publish),
            driver.drive { source in source.subscribe(onNext: { log.add(100 * $0) }) },
        ]
        scheduler.start()
        #expect(plain.events.compactMap(\.value.element) == [1, 2])
        #expect(optional.events.compactMap(\.value.element) == [1, 2])
        #expect(behavior.value == 1)
        #expect(log.all.sorted() == [2, 100])
        let told = signal.emit(to: behavior)
        scheduler.start()
        #expect(behavior.value == 2)
        for subscription in subscriptions + [told, listening] { subscription.dispose() }
        scheduler.start()
    }
}
