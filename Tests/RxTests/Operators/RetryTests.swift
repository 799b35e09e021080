import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct RetryTests {
    let scheduler = TestScheduler()

    @Test func `retry subscribes again at the error's time`() {
        let source = scheduler.createColdObservable([.next(10, 1), .error(20, Failure())])
        let seen = scheduler.start(disposed: 255) { source.retry() }
        #expect(seen.events == [.next(210, 1), .next(230, 1), .next(250, 1)])
        #expect(source.subscriptions == [Subscription(200, 220), Subscription(220, 240), Subscription(240, 255)])
    }

    @Test func `retry of a source that completes passes it on`() {
        let source = scheduler.createColdObservable([.next(10, 1), .completed(20)])
        let seen = scheduler.start { source.retry() }
        #expect(seen.events == [.next(210, 1), .completed(220)])
        #expect(source.subscriptions == [Subscription(200, 220)])
    }

    @Test func `retry 3 passes the third error on`() {
        let source = scheduler.createColdObservable([.next(5, 1), .error(10, Failure())])
        let seen = scheduler.start { source.retry(3) }
        #expect(seen.events == [.next(205, 1), .next(215, 1), .next(225, 1), .error(230, Failure())])
        #expect(source.subscriptions.map(\.unsubscribe) == [210, 220, 230])
    }

    @Test func `retry when subscribes again whenever the trigger sends`() {
        let source = scheduler.createColdObservable([.next(5, 1), .error(10, Failure())])
        let seen = scheduler.start(disposed: 300) { [scheduler] in
            source.retry(when: { errors in
                errors.flatMap { _ in scheduler.createColdObservable([.next(30, ()), .completed(30)]) }
            })
        }
        #expect(seen.events == [.next(205, 1), .next(245, 1), .next(285, 1)])
        #expect(source.subscriptions.map(\.subscribe) == [200, 240, 280])
        #expect(source.subscriptions.map(\.unsubscribe) == [210, 250, 290])
    }

    @Test func `retry when ends as its trigger does, but lets the attempt that runs fail first`() {
        struct Enough: Error {}
        let source = scheduler.createColdObservable([.next(5, 1), .error(10, Failure())])
        let failing = scheduler.start { source.retry(when: { $0.flatMap { _ in Observable<Int>.error(Enough()) } }) }
        #expect(failing.events == [.next(205, 1), .error(210, Enough())])

        let other = TestScheduler()
        let second = other.createColdObservable([.next(5, 1), .error(10, Failure())])
        let completing = other.start { second.retry(when: { $0.take(1) }) }
        #expect(completing.events == [.next(205, 1), .next(215, 1), .completed(220)])
        #expect(second.subscriptions == [Subscription(200, 210), Subscription(210, 220)])
    }

    @Test func `B14 retry when with a trigger that fires at once stops with its subscriber, and doesn't nest`() {
        let count = Locked(0)
        let failing = Observable<Int>.deferred {
            count.withLock { $0 += 1 }
            return Observable.just(0).concat(.error(Failure()))
        }
        let log = Log<String>()
        #expect(
            finishes {
                _ = failing.retry(when: { $0 }).take(1).subscribe { log.add("\($0)") }
            })
        #expect(log.all == ["next(0)", "completed"])
        #expect(count.withLock { $0 } == 1)

        let many = Log<Int>()
        #expect(
            finishes {
                _ = failing.retry(when: { $0 }).take(100_000).subscribe(onCompleted: { many.add(1) })
            })
        #expect(many.all == [1])
    }

    @Test func `retry when tries at once, whatever its trigger does as it is subscribed to`() {
        let source = scheduler.createColdObservable([.next(5, 1), .completed(10)])
        let early = scheduler.start { source.retry(when: { _ in Observable.just(1) }) }
        #expect(early.events == [.next(205, 1), .completed(210)])
        #expect(source.subscriptions == [Subscription(200, 210)])

        let other = TestScheduler()
        let failing = other.createColdObservable([.next(5, 1), .error(10, Failure())])
        let empty = other.start { failing.retry(when: { _ in Observable<Int>.empty() }) }
        #expect(empty.events == [.next(205, 1), .completed(210)])
        #expect(failing.subscriptions == [Subscription(200, 210)])

        struct Never: Error {}
        let third = TestScheduler()
        let cold = third.createColdObservable([.next(5, 1), .error(10, Failure())])
        let refused = third.start { cold.retry(when: { _ in Observable<Int>.error(Never()) }) }
        #expect(refused.events == [.next(205, 1), .error(210, Never())])
    }
}
