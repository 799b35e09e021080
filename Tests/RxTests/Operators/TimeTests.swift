import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct TimeTests {
    let scheduler = TestScheduler()

    @Test func `debounce sends the last of a burst, and what waits at the completion`() {
        let source = scheduler.createHotObservable([
            .next(210, 1), .next(215, 2), .next(240, 3), .next(255, 4), .completed(260),
        ])
        let seen = scheduler.start { [scheduler] in source.debounce(.seconds(10), scheduler: scheduler) }
        #expect(seen.events == [.next(225, 2), .next(250, 3), .next(260, 4), .completed(260)])
        #expect(source.subscriptions == [Subscription(200, 260)])
    }

    @Test func `debounce drops what waits at an error, or when it is disposed of`() {
        let source = scheduler.createHotObservable([.next(210, 1), .error(215, Failure())])
        let seen = scheduler.start { [scheduler] in source.debounce(.seconds(10), scheduler: scheduler) }
        #expect(seen.events == [.error(215, Failure())])
        let other = TestScheduler()
        let second = other.createHotObservable([.next(210, 1)])
        #expect(other.start(disposed: 215) { second.debounce(.seconds(10), scheduler: other) }.events == [])
        #expect(second.subscriptions == [Subscription(200, 215)])
    }

    @Test func `throttle sends the first, then the latest at most once in a while; the completion waits for it`() {
        let source = scheduler.createHotObservable([
            .next(210, 1), .next(212, 2), .next(215, 3), .next(240, 4), .next(245, 5), .completed(246),
        ])
        let seen = scheduler.start { [scheduler] in source.throttle(.seconds(10), scheduler: scheduler) }
        #expect(
            seen.events == [.next(210, 1), .next(220, 3), .next(240, 4), .next(250, 5), .completed(250)])
        #expect(source.subscriptions == [Subscription(200, 246)])
    }

    @Test func `throttle without the latest leaves out what comes too early`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(215, 2), .next(221, 3), .completed(225)])
        let seen = scheduler.start { [scheduler] in source.throttle(.seconds(10), latest: false, scheduler: scheduler) }
        #expect(seen.events == [.next(210, 1), .next(221, 3), .completed(225)])
    }

    @Test func `throttle passes an error on at once, and stops when disposed of`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(215, 2), .error(217, Failure())])
        let seen = scheduler.start { [scheduler] in source.throttle(.seconds(10), scheduler: scheduler) }
        #expect(seen.events == [.next(210, 1), .error(217, Failure())])
        let other = TestScheduler()
        let second = other.createHotObservable([.next(210, 1), .next(215, 2)])
        #expect(
            other.start(disposed: 218) { second.throttle(.seconds(10), scheduler: other) }.events == [.next(210, 1)])
    }

    @Test func `delay sends each event later, but an error at once`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(215, 2), .next(250, 3), .completed(260)])
        let seen = scheduler.start { [scheduler] in source.delay(.seconds(20), scheduler: scheduler) }
        #expect(seen.events == [.next(230, 1), .next(235, 2), .next(270, 3), .completed(280)])
        #expect(source.subscriptions == [Subscription(200, 260)])
        let other = TestScheduler()
        let failing = other.createHotObservable([.next(210, 1), .next(220, 2), .error(235, Failure())])
        #expect(
            other.start { failing.delay(.seconds(20), scheduler: other) }.events
                == [.next(230, 1), .error(235, Failure())])
        let third = TestScheduler()
        let cut = third.createHotObservable([.next(210, 1)])
        #expect(third.start(disposed: 225) { cut.delay(.seconds(20), scheduler: third) }.events == [])
    }

    @Test func `delay in real time keeps the order`() {
        let done = DispatchSemaphore(value: 0)
        let log = Log<Int>()
        let scheduler = SerialDispatchQueueScheduler(internalSerialQueueName: "delay")
        _ = Observable.from(Array(0..<50)).delay(.milliseconds(5), scheduler: scheduler)
            .subscribe(onNext: { log.add($0) }, onCompleted: { done.signal() })
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(log.all == Array(0..<50))
    }

    @Test func `delaySubscription subscribes later`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .completed(240)])
        let seen = scheduler.start { [scheduler] in source.delaySubscription(.seconds(20), scheduler: scheduler) }
        #expect(seen.events == [.next(230, 2), .completed(240)])
        #expect(source.subscriptions == [Subscription(220, 240)])
        let other = TestScheduler()
        let second = other.createHotObservable([.next(210, 1)])
        _ = other.start(disposed: 215) { second.delaySubscription(.seconds(20), scheduler: other) }
        #expect(second.subscriptions == [])
    }

    @Test func `timeout fails when the gap is too long, from the subscription on`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(250, 3)])
        let seen = scheduler.start { [scheduler] in source.timeout(.seconds(20), scheduler: scheduler) }
        #expect(seen.events == [.next(210, 1), .next(220, 2), .error(240, RxError.timeout)])
        #expect(source.subscriptions == [Subscription(200, 240)])
        let other = TestScheduler()
        #expect(
            other.start { Observable<Int>.never().timeout(.seconds(20), scheduler: other) }.events
                == [.error(220, RxError.timeout)])
    }

    @Test func `timeout goes on with the other, and not if the source ends in time`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(250, 2)])
        let backup = scheduler.createColdObservable([.next(5, 8), .completed(6)])
        let seen = scheduler.start { [scheduler] in
            source.timeout(.seconds(20), other: backup, scheduler: scheduler)
        }
        #expect(seen.events == [.next(210, 1), .next(235, 8), .completed(236)])
        #expect(backup.subscriptions == [Subscription(230, 236)])
        let other = TestScheduler()
        let ending = other.createHotObservable([.next(210, 1), .completed(220)])
        #expect(
            other.start { ending.timeout(.seconds(20), scheduler: other) }.events == [.next(210, 1), .completed(220)])
    }

    @Test func `take for a while completes then, skip for a while leaves out until then`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .completed(240)])
        let taken = scheduler.start { [scheduler] in source.take(for: .seconds(20), scheduler: scheduler) }
        #expect(taken.events == [.next(210, 1), .completed(220)])
        #expect(source.subscriptions == [Subscription(200, 220)])
        let other = TestScheduler()
        let second = other.createHotObservable([.next(210, 1), .next(230, 2), .completed(240)])
        #expect(
            other.start { second.skip(.seconds(20), scheduler: other) }.events == [.next(230, 2), .completed(240)])
        let third = TestScheduler()
        let early = third.createHotObservable([.next(205, 1), .completed(210)])
        #expect(third.start { early.skip(.seconds(20), scheduler: third) }.events == [.completed(210)])
        let fourth = TestScheduler()
        let failing = fourth.createHotObservable([.next(205, 1), .error(210, Failure())])
        #expect(fourth.start { failing.skip(.seconds(20), scheduler: fourth) }.events == [.error(210, Failure())])
    }

    @Test func `buffer sends when it is full or old, and the rest at the completion`() {
        let source = scheduler.createHotObservable([
            .next(205, 1), .next(210, 2), .next(240, 3), .next(280, 4), .completed(300),
        ])
        let seen = scheduler.start { [scheduler] in
            source.buffer(timeSpan: .seconds(50), count: 2, scheduler: scheduler)
        }
        #expect(seen.events == [.next(210, [1, 2]), .next(260, [3]), .next(300, [4]), .completed(300)])
        #expect(source.subscriptions == [Subscription(200, 300)])
        let other = TestScheduler()
        let failing = other.createHotObservable([.next(205, 1), .error(210, Failure())])
        #expect(
            other.start { failing.buffer(timeSpan: .seconds(50), count: 2, scheduler: other) }.events
                == [.error(210, Failure())])
    }

    @Test func `window hands on what a buffer would gather`() {
        let source = scheduler.createHotObservable([
            .next(205, 1), .next(210, 2), .next(240, 3), .next(280, 4), .completed(300),
        ])
        let seen = scheduler.start { [scheduler] in
            source.window(timeSpan: .seconds(50), count: 2, scheduler: scheduler).enumerated()
                .flatMap { window in window.element.map { "\(window.index):\($0)" }.concat(.just("\(window.index)|")) }
        }
        #expect(
            seen.events == [
                .next(205, "0:1"), .next(210, "0:2"), .next(210, "0|"), .next(240, "1:3"), .next(260, "1|"),
                .next(280, "2:4"), .next(300, "2|"), .completed(300),
            ])
        #expect(source.subscriptions == [Subscription(200, 300)])
    }

    @Test func `a window keeps the source after the result has been disposed of`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .error(230, Failure())])
        let outer = SerialDisposable(), log = Log<String>()
        scheduler.scheduleAt(200) { [scheduler] in
            outer.disposable = source.window(timeSpan: .seconds(500), count: 10, scheduler: scheduler)
                .subscribe(onNext: { window in _ = window.subscribe { log.add("\($0)") } })
        }
        scheduler.scheduleAt(215) { outer.dispose() }
        scheduler.start()
        #expect(log.all == ["next(1)", "next(2)", "error(Failure())"])
        #expect(source.subscriptions == [Subscription(200, 230)])
    }

    @Test func `groupBy makes a group for each key, all of which end with the source`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        let seen = scheduler.start {
            source.groupBy { $0 % 2 }.flatMap { group in
                group.map { "\(group.key):\($0)" }.concat(.just("|\(group.key)"))
            }
        }
        #expect(seen.events.prefix(3) == [.next(210, "1:1"), .next(220, "0:2"), .next(230, "1:3")])
        #expect(seen.events.count == 6 && seen.events.last == .completed(240))
        #expect(source.subscriptions == [Subscription(200, 240)])
        let other = TestScheduler()
        let failing = other.createHotObservable([.next(210, 1), .next(220, 2)])
        let groups = other.start {
            failing.groupBy { (number: Int) throws -> Int in
                if number == 2 { throw Failure() }
                return number
            }.map(\.key)
        }
        #expect(groups.events == [.next(210, 1), .error(220, Failure())])
        #expect(failing.subscriptions == [Subscription(200, 220)])
    }

    @Test func `a group keeps the source after the result has been disposed of`() {
        let subject = PublishSubject<Int>()
        let log = Log<Int>(), inner = SerialDisposable()
        let outer = subject.groupBy { _ in 0 }.subscribe(onNext: { group in
            inner.disposable = group.subscribe(onNext: { log.add($0) })
        })
        subject.onNext(1)
        outer.dispose()
        subject.onNext(2)
        #expect(subject.hasObservers)
        inner.dispose()
        #expect(!subject.hasObservers)
        #expect(log.all == [1, 2])
    }

    @Test func `interval and timer count on the scheduler`() {
        let seen = scheduler.start(disposed: 235) { [scheduler] in
            Observable<Int>.interval(.seconds(10), scheduler: scheduler)
        }
        #expect(seen.events == [.next(210, 0), .next(220, 1), .next(230, 2)])
        let once = TestScheduler()
        #expect(
            once.start { Observable<Int>.timer(.seconds(10), scheduler: once) }.events
                == [.next(210, 0), .completed(210)])
        let again = TestScheduler()
        #expect(
            again.start(disposed: 230) { Observable<Int>.timer(.seconds(5), period: .seconds(10), scheduler: again) }
                .events
                == [.next(205, 0), .next(215, 1), .next(225, 2)])
        let taken = TestScheduler()
        #expect(
            taken.start { Observable<Int>.timer(.seconds(10), scheduler: taken).take(1) }.events
                == [.next(210, 0), .completed(210)])
    }

    @Test func `subscribe on subscribes and disposes on the scheduler`() {
        let source = scheduler.createHotObservable([.next(210, 1), .completed(240)])
        let seen = scheduler.start { [scheduler] in source.subscribe(on: scheduler) }
        #expect(seen.events == [.next(210, 1), .completed(240)])
        #expect(source.subscriptions == [Subscription(201, 241)])
        let other = TestScheduler()
        let cut = other.createHotObservable([.next(210, 1), .next(230, 2)])
        #expect(other.start(disposed: 220) { cut.subscribe(on: other) }.events == [.next(210, 1)])
        #expect(cut.subscriptions == [Subscription(201, 221)])
        let third = TestScheduler()
        let unused = third.createHotObservable([.next(210, 1)])
        _ = third.start(disposed: 200) { unused.subscribe(on: third) }
        #expect(unused.subscriptions == [])
    }

    @Test func `creation on a scheduler takes a turn for each event`() {
        func events(
            disposed: TestTime = 1_000, _ make: @escaping @Sendable (TestScheduler) -> Observable<Int>
        ) -> [Recorded<Event<Int>>] {
            let scheduler = TestScheduler()
            return scheduler.start(disposed: disposed) { make(scheduler) }.events
        }
        #expect(events { .just(7, scheduler: $0) } == [.next(201, 7), .completed(202)])
        #expect(events { .from(optional: 7, scheduler: $0) } == [.next(201, 7), .completed(202)])
        #expect(events { .from(optional: nil, scheduler: $0) } == [.completed(201)])
        #expect(
            events { .range(start: 5, count: 2, scheduler: $0) } == [.next(201, 5), .next(202, 6), .completed(203)])
        #expect(events(disposed: 203) { .repeatElement(7, scheduler: $0) } == [.next(201, 7), .next(202, 7)])
        let generated = events { .generate(initialState: 1, condition: { $0 < 5 }, scheduler: $0) { $0 * 2 } }
        #expect(generated == [.next(201, 1), .next(202, 2), .next(203, 4), .completed(204)])
        let failing = events {
            .generate(initialState: 1, condition: { _ in true }, scheduler: $0) { _ in throw Failure() }
        }
        #expect(failing == [.next(201, 1), .error(202, Failure())])
    }

    @Test func `each subscription to a created sequence starts anew`() {
        let log = Log<Int>()
        let range = Observable.range(start: 1, count: 2)
        let generated = Observable.generate(initialState: 3, condition: { $0 < 5 }) { $0 + 1 }
        for _ in 0..<2 {
            _ = range.subscribe(onNext: { log.add($0) })
            _ = generated.subscribe(onNext: { log.add($0) })
        }
        _ = Observable.range(start: Int8.max, count: 1).subscribe(onNext: { log.add(Int($0)) })
        _ = Observable.repeatElement(9).take(2).subscribe(onNext: { log.add($0) })
        #expect(log.all == [1, 2, 3, 4, 1, 2, 3, 4, 127, 9, 9])
    }
}
