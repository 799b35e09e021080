import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct SharedSequenceTests {
    private let scheduler = TestScheduler()

    @Test func `a driver works once for all, and gives a later subscriber the present value`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3)])
        let mapped = Log<Int>()
        let driver = source.asDriver(onErrorJustReturn: 0, on: scheduler).map { value in
            mapped.add(value)
            return value * 10
        }
        let late = scheduler.createObserver(Int.self)
        let second = SerialDisposable()
        scheduler.scheduleAt(225) { second.disposable = driver.drive(late) }
        scheduler.scheduleAt(900) { second.dispose() }

        let early = scheduler.start { driver }

        #expect(early.events == [.next(211, 10), .next(221, 20), .next(231, 30)])
        #expect(late.events == [.next(226, 20), .next(231, 30)])
        #expect(mapped.all == [1, 2, 3])
        #expect(source.subscriptions == [Subscription(201, 1_001)])
    }

    @Test func `a signal gives a later subscriber only what comes`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3)])
        let signal = source.asSignal(onErrorJustReturn: 0, on: scheduler)
        let late = scheduler.createObserver(Int.self)
        let second = SerialDisposable()
        scheduler.scheduleAt(225) { second.disposable = signal.emit(to: late) }
        scheduler.scheduleAt(900) { second.dispose() }

        let early = scheduler.start { signal }

        #expect(early.events == [.next(211, 1), .next(221, 2), .next(231, 3)])
        #expect(late.events == [.next(231, 3)])
        #expect(source.subscriptions == [Subscription(201, 1_001)])
    }

    @Test func `an error becomes a value, another sequence, or what is made of it`() {
        let failing = scheduler.createColdObservable([.next(10, 1), .error(20, Failure())]).asObservable()

        let value = scheduler.start { [scheduler] in failing.asDriver(onErrorJustReturn: -1, on: scheduler) }
        #expect(value.events == [.next(212, 1), .next(222, -1), .completed(223)])

        let other = TestScheduler()
        let cold = other.createColdObservable([.next(10, 1), .error(20, Failure())]).asObservable()
        let more = other.start {
            cold.asSignal(onErrorSignalWith: .just(7, on: other), on: other)
        }
        #expect(more.events.map(\.value) == [.next(1), .next(7), .completed])
        let recovered = Log<Int>()
        _ = Observable<Int>.error(Failure()).asDriver(onErrorRecover: { _ in .just(8, on: other) }, on: other)
            .drive(onNext: { recovered.add($0) })
        other.start()
        #expect(recovered.all == [8])
    }

    @Test func `everything is delivered on the scheduler that was named, a replayed value too`() {
        let queue = DispatchQueue(label: "view")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let serial = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "view.serial")
        let relay = BehaviorRelay(value: 0)
        let places = Log<Bool>()
        let driver = relay.asDriver(on: serial).map { value in
            places.add(DispatchQueue.getSpecific(key: key) == true)
            return value
        }

        let first = driver.drive(onNext: { _ in places.add(DispatchQueue.getSpecific(key: key) == true) })
        #expect(becomesTrue { places.all.count == 2 })
        relay.accept(1)
        #expect(becomesTrue { places.all.count == 4 })
        let second = driver.drive(onNext: { _ in places.add(DispatchQueue.getSpecific(key: key) == true) })
        #expect(becomesTrue { places.all.count == 5 })

        #expect(places.all.allSatisfy { $0 })
        first.dispose()
        second.dispose()
    }

    @Test func `sequences from other schedulers come to the first one's`() {
        let other = TestScheduler()
        let here = BehaviorRelay(value: 1).asDriver(on: scheduler)
        let there = BehaviorRelay(value: "a").asDriver(on: other)
        let seen = Log<String>()

        let subscription = Driver.combineLatest(here, there) { "\($0)\($1)" }.drive(onNext: { seen.add($0) })
        for clock in [scheduler, other, other] { clock.start() }
        #expect(seen.all == [], "delivered here, not there")
        scheduler.start()

        #expect(seen.all == ["1a"])
        subscription.dispose()
        for clock in [scheduler, other] { clock.start() }
    }

    @Test func `operators keep what a driver promises`() {
        let first = BehaviorRelay(value: 1)
        let second = PublishRelay<Int>()
        let seen = Log<Int>()
        let driver = first.asDriver(on: scheduler)
        let signal = second.asSignal(on: scheduler)

        let all: Driver<Int> = .merge(
            driver.filter { $0 != 2 }.distinctUntilChanged().scan(0) { $0 + $1 },
            driver.compactMap { $0 == 2 ? 20 : nil }.startWith(0),
            driver.flatMapLatest { value in signal.map { $0 + value } })
        let subscription = all.drive(onNext: { seen.add($0) })
        scheduler.start()
        #expect(seen.all == [0, 1])
        first.accept(2)
        scheduler.start()
        second.accept(100)
        scheduler.start()

        #expect(seen.all == [0, 1, 20, 102])
        subscription.dispose()
        scheduler.start()
        second.accept(200)
        scheduler.start()
        #expect(seen.all.count == 4)
    }

    @Test func `a signal takes the latest of a driver along`() {
        let text = BehaviorRelay(value: "a")
        let taps = PublishRelay<Void>()
        let sent = PublishRelay<String>()
        let seen = Log<String>()
        _ = sent.subscribe(onNext: { seen.add($0) })

        let subscription = taps.asSignal(on: scheduler).withLatestFrom(text.asDriver(on: scheduler)).emit(to: sent)
        scheduler.start()
        taps.accept(())
        text.accept("b")
        taps.accept(())
        scheduler.start()

        #expect(seen.all == ["a", "b"])
        subscription.dispose()
        scheduler.start()
    }

    fileprivate final class Label: Sendable {
        let text = Locked("")
    }

    @Test func `a driver and an ordinary sequence bind to what an object offers under rx`() {
        let label = Label()

        let driven = BehaviorRelay(value: "driven").asDriver(on: scheduler).drive(label.rx.text(on: scheduler))
        scheduler.start()
        #expect(label.text.withLock { $0 } == "driven")
        let bound = Observable.just("bound").bind(to: label.rx.text(on: scheduler))
        scheduler.start()

        #expect(label.text.withLock { $0 } == "bound")
        driven.dispose()
        bound.dispose()
        scheduler.start()
    }
}

extension SharedSequenceTests.Label: ReactiveCompatible {}

extension Reactive where Base == SharedSequenceTests.Label {
    fileprivate func text(on scheduler: any ImmediateSchedulerType) -> Binder<String> {
        Binder(base, scheduler: scheduler) { label, text in label.text.withLock { $0 = text } }
    }
}
