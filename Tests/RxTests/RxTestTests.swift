import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct RxTestTests {
    let scheduler = TestScheduler()

    @Test func `start creates at 100, subscribes at 200 and disposes at 1000`() {
        let log = Log<Int>()
        let hot = scheduler.createHotObservable([.next(199, 1), .next(200, 2), .next(999, 3), .next(1_001, 4)])
        let seen = scheduler.start { [scheduler] in
            log.add(scheduler.clock)
            return hot
        }
        #expect(log.all == [100])
        #expect(seen.events == [.next(999, 3)])
        #expect(hot.subscriptions == [Subscription(200, 1_000)])
        #expect(hot.recordedEvents.count == 4)
    }

    @Test func `a cold observable counts from each subscription`() {
        let cold = scheduler.createColdObservable([.next(10, "a"), .completed(20)])
        let seen = scheduler.start(created: 50, subscribed: 60, disposed: 300) { cold.concat(cold) }
        #expect(seen.events == [.next(70, "a"), .next(90, "a"), .completed(100)])
        #expect(cold.subscriptions == [Subscription(60, 80), Subscription(80, 100)])
    }

    @Test func `a subscription that goes on has no end yet`() {
        let hot = scheduler.createHotObservable([.next(10, 1)])
        let observer = scheduler.createObserver(Int.self)
        let subscription = hot.subscribe(observer)
        scheduler.start()
        #expect(observer.events == [.next(10, 1)])
        #expect(hot.subscriptions == [Subscription(0)])
        #expect("\(hot.subscriptions)" == "[(0 : infinite)]")
        subscription.dispose()
        #expect("\(hot.subscriptions)" == "[(0 : 10)]")
        #expect("\(observer.events)" == "[next(1) @ 10]")
    }

    @Test func `recorded events differ by time, by element and by error`() {
        #expect(Recorded.next(1, 1) != Recorded.next(2, 1))
        #expect(Recorded.next(1, 1) != Recorded.next(1, 2))
        #expect(Recorded<Event<Int>>.error(1, Failure()) != .error(1, RxError.timeout))
        #expect(Recorded<Event<Int>>.error(1, Failure()) == .error(1, Failure()))
        #expect(Recorded.completed(1, Int.self) != Recorded.next(1, 1))
    }
}
