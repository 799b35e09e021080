import Dispatch
import Foundation
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct MoreSchedulerTests {
    @Test func `the main scheduler runs at once on the main queue, and nested work later`() {
        let log = Log<Int>()
        onMainQueue {
            _ = MainScheduler.instance.schedule(()) {
                _ = MainScheduler.instance.schedule(()) {
                    log.add(3)
                    return Disposables.create()
                }
                log.add(1)
                return Disposables.create()
            }
            log.add(2)
        }
        #expect(becomesTrue { log.all == [1, 2, 3] })
    }

    @Test func `observe on the main scheduler delivers at once on the main queue, nested events after it`() {
        let log = Log<Int>()
        onMainQueue {
            let subject = PublishSubject<Int>()
            let subscription = subject.observe(on: MainScheduler.instance).subscribe(onNext: { number in
                if number == 1 { subject.onNext(2) }
                log.add(number)
            })
            subject.onNext(1)
            subject.onNext(3)
            #expect(log.all == [1, 2, 3])
            subscription.dispose()
        }
        let late = PublishSubject<Int>()
        let subscription = late.observe(on: MainScheduler.instance).subscribe(onNext: { number in
            MainScheduler.ensureExecutingOnScheduler()
            log.add(number)
        })
        late.onNext(4)
        late.onNext(5)
        #expect(becomesTrue { log.all == [1, 2, 3, 4, 5] })
        subscription.dispose()
    }

    @Test func `work from elsewhere runs on the main queue, unless it is cancelled`() {
        let log = Log<Int>()
        let mayGoOn = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { mayGoOn.wait() }
        MainScheduler.instance.schedule(()) {
            log.add(1)
            return Disposables.create()
        }.dispose()
        mayGoOn.signal()
        _ = MainScheduler.instance.schedule(()) {
            MainScheduler.ensureRunningOnMainThread()
            log.add(2)
            return Disposables.create()
        }
        _ = ConcurrentMainScheduler.instance.schedule(()) {
            MainScheduler.ensureExecutingOnScheduler()
            log.add(3)
            return Disposables.create()
        }
        #expect(becomesTrue { log.all == [2, 3] })
        onMainQueue {
            _ = ConcurrentMainScheduler.instance.schedule(()) {
                _ = ConcurrentMainScheduler.instance.schedule(()) {
                    log.add(4)
                    return Disposables.create()
                }
                log.add(5)
                return Disposables.create()
            }
        }
        #expect(log.all == [2, 3, 4, 5])
    }

    @Test func `the main schedulers run timers`() {
        let count = Locked(0)
        let periodic = ConcurrentMainScheduler.instance.schedulePeriodic(
            0, startAfter: .milliseconds(1), period: .milliseconds(1)
        ) {
            count.withLock { $0 += 1 }
            return $0 + 1
        }
        let once = Locked(false)
        _ = ConcurrentMainScheduler.instance.scheduleRelative((), dueTime: .milliseconds(1)) {
            once.withLock { $0 = true }
            return Disposables.create()
        }
        #expect(becomesTrue { count.withLock { $0 } > 2 && once.withLock { $0 } })
        periodic.dispose()
        #expect(ConcurrentMainScheduler.instance.now.timeIntervalSinceNow < 1)
    }

    @Test func `a concurrent queue runs work, timers and periodic work`() {
        let scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
        let done = DispatchSemaphore(value: 0)
        _ = scheduler.schedule(1) { _ in
            done.signal()
            return Disposables.create()
        }
        _ = scheduler.scheduleRelative(1, dueTime: .milliseconds(1)) { _ in
            done.signal()
            return Disposables.create()
        }
        let periodic = scheduler.schedulePeriodic(0, startAfter: .milliseconds(1), period: .milliseconds(1)) {
            if $0 < 2 { done.signal() }
            return $0 + 1
        }
        for _ in 0..<4 { #expect(done.wait(timeout: .now() + 20) == .success) }
        periodic.dispose()
        scheduler.schedule(()) {
            done.signal(); return Disposables.create()
        }.dispose()
        #expect(scheduler.now.timeIntervalSinceNow < 1)
        let own = ConcurrentDispatchQueueScheduler(queue: DispatchQueue(label: "own"))
        _ = own.schedule(()) {
            done.signal()
            return Disposables.create()
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
    }

    @Test func `observe on a concurrent queue keeps the order, one at a time`() {
        let done = DispatchSemaphore(value: 0)
        let seen = Unguarded<Int>()
        _ = Observable.from(Array(0..<2_000)).observe(on: ConcurrentDispatchQueueScheduler(qos: .default))
            .subscribe(onNext: { seen.seen.append($0) }, onCompleted: { done.signal() })
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(seen.seen == Array(0..<2_000))
    }

    @Test func `an operation queue runs work, unless it is cancelled first`() {
        let queue = OperationQueue()
        let scheduler = OperationQueueScheduler(operationQueue: queue, queuePriority: .high)
        let log = Log<Int>()
        queue.isSuspended = true
        _ = scheduler.schedule(1) { number in
            log.add(number)
            return Disposables.create()
        }
        scheduler.schedule(2) { number in
            log.add(number)
            return Disposables.create()
        }.dispose()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.all == [1])
        #expect(scheduler.operationQueue === queue && scheduler.queuePriority == .high)
    }

    @Test func `a historical scheduler counts in dates`() {
        let start = Date(timeIntervalSince1970: 1_000)
        let scheduler = HistoricalScheduler(initialClock: start)
        let log = Log<Date>()
        for seconds in [20, 10] {
            _ = scheduler.scheduleRelative((), dueTime: .seconds(seconds)) {
                log.add(scheduler.now)
                return Disposables.create()
            }
        }
        _ = scheduler.scheduleRelativeVirtual((), dueTime: 5) {
            log.add(scheduler.clock)
            return Disposables.create()
        }
        scheduler.advanceTo(start.addingTimeInterval(12))
        #expect(log.all == [start.addingTimeInterval(5), start.addingTimeInterval(10)])
        scheduler.start()
        #expect(log.all.last == start.addingTimeInterval(20))
        #expect(HistoricalScheduler().clock == Date(timeIntervalSince1970: 0))
    }
}
