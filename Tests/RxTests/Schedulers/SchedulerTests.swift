import Dispatch
import Foundation
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct VirtualTimeTests {
    let scheduler = TestScheduler()

    private func note(_ log: Log<String>, _ name: String, at time: TestTime) -> any Disposable {
        scheduler.scheduleAbsoluteVirtual(name, time: time) { [scheduler] name in
            log.add("\(name)@\(scheduler.clock)")
            return Disposables.create()
        }
    }

    @Test func `work runs in order of time, and of scheduling where that is the same`() {
        let log = Log<String>()
        let times = (0..<200).map { $0 * 7919 % 50 }
        for (index, time) in times.enumerated() { _ = note(log, "\(index)", at: time) }
        scheduler.start()
        let order = times.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        #expect(log.all == order.map { "\($0.offset)@\($0.element)" })
    }

    @Test func `cancelled work doesn't run and doesn't move the clock`() {
        let log = Log<String>()
        _ = note(log, "a", at: 10)
        note(log, "b", at: 20).dispose()
        scheduler.start()
        #expect(log.all == ["a@10"])
        #expect(scheduler.clock == 10)
    }

    @Test func `disposing after the work has run disposes of what it started`() {
        let log = Log<String>()
        let work = scheduler.scheduleAbsoluteVirtual((), time: 10) { Disposables.create { log.add("stopped") } }
        scheduler.start()
        #expect(log.all == [])
        work.dispose()
        #expect(log.all == ["stopped"])
    }

    @Test func `advanceTo runs what is due and leaves the clock there, sleep runs nothing`() {
        let log = Log<String>()
        for time in [10, 20, 30] { _ = note(log, "x", at: time) }
        scheduler.advanceTo(20)
        #expect(log.all == ["x@10", "x@20"])
        scheduler.sleep(50)
        #expect(scheduler.clock == 70)
        #expect(log.all.count == 2)
        scheduler.start()
        #expect(log.all == ["x@10", "x@20", "x@70"])
    }

    @Test func `stop ends the run after the present work`() {
        let log = Log<String>()
        scheduler.scheduleAt(10) { [scheduler] in scheduler.stop() }
        _ = note(log, "later", at: 20)
        scheduler.start()
        #expect(log.all == [])
        scheduler.start()
        #expect(log.all == ["later@20"])
    }

    @Test func `start from inside the work returns at once`() {
        let log = Log<String>()
        scheduler.scheduleAt(10) { [scheduler] in
            scheduler.start()
            log.add("inside")
        }
        _ = note(log, "later", at: 20)
        scheduler.start()
        #expect(log.all == ["inside", "later@20"])
    }

    @Test func `a tick is as long as the resolution, and what is due at once runs a tick later if that is simulated`() {
        let log = Log<String>()
        for simulates in [true, false] {
            let scheduler = TestScheduler(initialClock: 5, resolution: 0.1, simulateProcessingDelay: simulates)
            #expect(scheduler.now == Date(timeIntervalSince1970: 0.5))
            _ = scheduler.scheduleRelative((), dueTime: .milliseconds(250)) {
                log.add("relative@\(scheduler.clock)")
                return Disposables.create()
            }
            _ = scheduler.schedule(()) {
                log.add("now@\(scheduler.clock)")
                return Disposables.create()
            }
            _ = scheduler.scheduleRelative((), dueTime: .never) {
                log.add("never")
                return Disposables.create()
            }
            scheduler.start()
        }
        #expect(log.all == ["now@6", "relative@8", "now@5", "relative@8"])
    }

    @Test func `periodic work runs on time until it is stopped`() {
        let log = Log<String>()
        let work = scheduler.schedulePeriodic(0, startAfter: .seconds(10), period: .seconds(5)) { [scheduler] number in
            log.add("\(number)@\(scheduler.clock)")
            return number + 1
        }
        scheduler.scheduleAt(23) { work.dispose() }
        scheduler.start()
        #expect(log.all == ["0@10", "1@15", "2@20"])
    }

    @Test func `recursive work runs as often as it asks for`() {
        let log = Log<String>()
        let work = scheduler.scheduleRecursive(3) { [scheduler] left, again in
            log.add("\(left)@\(scheduler.clock)")
            if left > 0 { again(left - 1) }
        }
        scheduler.start()
        #expect(log.all == ["3@1", "2@2", "1@3", "0@4"])
        work.dispose()
    }

    @Test func `recursive work that is stopped doesn't go on`() {
        let log = Log<Int>()
        let work = scheduler.scheduleRecursive(0) { number, again in
            log.add(number)
            again(number + 1)
        }
        scheduler.scheduleAt(3) { work.dispose() }
        scheduler.start()
        #expect(log.all == [0, 1])
    }

    @Test func `any converter will do`() {
        struct Halves: VirtualTimeConverterType {
            func convertFromVirtualTime(_ virtualTime: Double) -> RxTime {
                RxTime(timeIntervalSince1970: virtualTime * 2)
            }
            func convertToVirtualTime(_ time: RxTime) -> Double { time.timeIntervalSince1970 / 2 }
            func convertFromVirtualTimeInterval(_ interval: Double) -> TimeInterval { interval * 2 }
            func convertToVirtualTimeInterval(_ interval: TimeInterval) -> Double { interval / 2 }
            func offsetVirtualTime(_ time: Double, offset: Double) -> Double { time + offset }
            func compareVirtualTime(_ lhs: Double, _ rhs: Double) -> VirtualTimeComparison {
                if lhs < rhs { .lessThan } else if lhs > rhs { .greaterThan } else { .equal }
            }
        }
        let scheduler = VirtualTimeScheduler(initialClock: 1.5, converter: Halves())
        let log = Log<Double>()
        _ = scheduler.scheduleRelative((), dueTime: .seconds(3)) {
            log.add(scheduler.clock)
            return Disposables.create()
        }
        scheduler.start()
        #expect(log.all == [3.0])
        #expect("\(scheduler)" == "VirtualTimeScheduler(clock: 3.0, scheduled: 0)")
    }
}

@Suite(.countsResources) struct CurrentThreadTests {
    @Test func `work scheduled from inside work waits for its turn`() {
        let log = Log<String>()
        let current = CurrentThreadScheduler.instance
        #expect(CurrentThreadScheduler.isScheduleRequired)
        _ = current.schedule(()) {
            #expect(!CurrentThreadScheduler.isScheduleRequired)
            let cancelled = current.schedule(()) {
                log.add("cancelled")
                return Disposables.create()
            }
            _ = current.schedule(()) {
                log.add("inner")
                return Disposables.create()
            }
            cancelled.dispose()
            log.add("outer")
            return Disposables.create()
        }
        #expect(log.all == ["outer", "inner"])
        #expect(CurrentThreadScheduler.isScheduleRequired)
    }

    @Test func `200 turns that wait at once all come, in order`() {
        let log = Log<Int>()
        _ = CurrentThreadScheduler.instance.schedule(()) {
            for number in 0..<200 {
                _ = CurrentThreadScheduler.instance.schedule(number) {
                    log.add($0)
                    return Disposables.create()
                }
            }
            return Disposables.create()
        }
        #expect(log.all == Array(0..<200))
    }
}

@Suite(.countsResources) struct SerialDispatchQueueTests {
    private static let key = DispatchSpecificKey<Bool>()

    @Test func `work runs on the queue it was given, in order, unless it is cancelled`() {
        let target = DispatchQueue(label: "target")
        target.setSpecific(key: Self.key, value: true)
        let scheduler = SerialDispatchQueueScheduler(queue: target, internalSerialQueueName: "front")
        let log = Log<Int>()
        let done = DispatchSemaphore(value: 0)
        target.suspend()
        for number in 0..<10 {
            let work = scheduler.schedule(number) {
                if DispatchQueue.getSpecific(key: Self.key) == true { log.add($0) }
                return Disposables.create()
            }
            if number == 5 { work.dispose() }
        }
        _ = scheduler.schedule(()) {
            done.signal()
            return Disposables.create()
        }
        target.resume()
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(log.all == [0, 1, 2, 3, 4, 6, 7, 8, 9])
    }

    @Test func `relative work runs no earlier than due, also when nobody keeps its disposable`() {
        let scheduler = SerialDispatchQueueScheduler(internalSerialQueueName: "timer")
        let done = DispatchSemaphore(value: 0)
        let start = DispatchTime.now()
        _ = scheduler.scheduleRelative((), dueTime: .milliseconds(30)) {
            done.signal()
            return Disposables.create()
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(DispatchTime.now() >= start + .milliseconds(30))
    }

    @Test func `cancelled relative work doesn't run and is let go of before it is due`() {
        let scheduler = SerialDispatchQueueScheduler(qos: .userInitiated)
        weak var observed: Canary?
        do {
            let canary = Canary()
            observed = canary
            scheduler.scheduleRelative((), dueTime: .seconds(3_600)) {
                withExtendedLifetime(canary) { Disposables.create() }
            }.dispose()
        }
        #expect(becomesTrue { observed == nil })
    }

    @Test func `periodic work passes its state on until it is stopped`() {
        let scheduler = SerialDispatchQueueScheduler(
            internalSerialQueueName: "period", serialQueueConfiguration: { _ in })
        let log = Log<Int>()
        let third = DispatchSemaphore(value: 0)
        let work = scheduler.schedulePeriodic(0, startAfter: .milliseconds(1), period: .milliseconds(1)) { number in
            log.add(number)
            if number == 2 { third.signal() }
            return number + 1
        }
        #expect(third.wait(timeout: .now() + 20) == .success)
        work.dispose()
        #expect(log.all.prefix(3) == [0, 1, 2])
        #expect(abs(scheduler.now.timeIntervalSinceNow) < 20)
    }
}
