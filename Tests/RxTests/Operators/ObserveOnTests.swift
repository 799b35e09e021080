import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct ObserveOnTests {
    let scheduler = TestScheduler()

    @Test func `events come on the scheduler, one a turn, the ending after the elements`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(210, 2), .next(220, 3), .completed(230)])
        let seen = scheduler.start { [scheduler] in source.observe(on: scheduler) }
        #expect(seen.events == [.next(211, 1), .next(212, 2), .next(221, 3), .completed(231)])
        #expect(source.subscriptions == [Subscription(200, 230)])
    }

    @Test func `an error waits its turn`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(210, 2), .error(210, Failure())])
        let seen = scheduler.start { [scheduler] in source.observe(on: scheduler) }
        #expect(seen.events == [.next(211, 1), .next(212, 2), .error(213, Failure())])
    }

    @Test func `what waits when the subscription is disposed of is dropped`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(225, 2)])
        let seen = scheduler.start(disposed: 226) { [scheduler] in source.observe(on: scheduler) }
        #expect(seen.events == [.next(211, 1)])
        #expect(source.subscriptions == [Subscription(200, 226)])
    }

    @Test func `a serial queue gets all events of many threads, one at a time, each thread's in order`() {
        let subject = PublishSubject<Int>()
        let seen = Unguarded<Int>()
        let done = DispatchSemaphore(value: 0)
        let queue = SerialDispatchQueueScheduler(internalSerialQueueName: "observe")
        _ = subject.observe(on: queue).subscribe(onNext: { seen.seen.append($0) }, onCompleted: { done.signal() })
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<5_000 { subject.onNext(thread * 5_000 + number) }
        }
        subject.onCompleted()
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(seen.seen.count == 40_000)
        for thread in 0..<8 {
            #expect(seen.seen.filter { $0 / 5_000 == thread } == Array(thread * 5_000..<(thread + 1) * 5_000))
        }
    }

    @Test func `a flood leaves room for others on the scheduler`() {
        let subject = PublishSubject<Int>()
        let queue = DispatchQueue(label: "shared")
        let log = Log<String>()
        let done = DispatchSemaphore(value: 0)
        let scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "flood")
        queue.suspend()
        _ = subject.observe(on: scheduler).subscribe(onNext: { number in
            if number == 0 {
                _ = scheduler.schedule(()) {
                    log.add("other")
                    return Disposables.create()
                }
            }
            if number == 9_999 {
                log.add("last")
                done.signal()
            }
        })
        for number in 0..<10_000 { subject.onNext(number) }
        queue.resume()
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(log.all == ["other", "last"])
    }

    @Test func `nothing is kept after the ending`() {
        weak var observed: Canary?
        let done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "release")
        do {
            let canary = Canary()
            observed = canary
            let scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "release")
            _ = Observable.of(1, 2).observe(on: scheduler).subscribe(
                onCompleted: { withExtendedLifetime(canary) { _ = done.signal() } })
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
        queue.sync {}  // the turn that completed is over
        #expect(observed == nil)
    }
}
