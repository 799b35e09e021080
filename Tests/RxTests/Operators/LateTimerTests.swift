import Dispatch
import Foundation
import Locking
import ResourceCounting
import Rx
import ResourceCounting
import Testing

/// Runs timers when told to, cancelled ones too: a timer that has gone off can't be called back.
private final class LateTimers: SchedulerType {
    private let work = Locked<[@Sendable () -> Void]>([])
    private let clock = Locked(Date(timeIntervalSince1970: 0))

    var now: Date { clock.withLock { $0 } }

    func advance(by seconds: Double) { clock.withLock { $0 += seconds } }

    func fire(_ number: Int) { work.withLock { $0[number] }() }

    /// Lets go of all work, and so of what it holds.
    func forget() {
        let last = work.withLock { work in
            defer { work = [] }
            return work
        }
        withExtendedLifetime(last) {}
    }

    func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable { scheduleRelative(state, dueTime: .nanoseconds(0), action: action) }

    func scheduleRelative<State: Sendable>(
        _ state: State, dueTime: DispatchTimeInterval, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        work.withLock { $0.append { _ = action(state) } }
        return Disposables.create()
    }
}

/// Each test ends its source, and so its subscription.
@Suite(.countsResources) struct LateTimerTests {
    private let scheduler = LateTimers()
    private let source = PublishSubject<Int>()
    private let log = Log<String>()

    @Test func `throttle doesn't take a timer that a newer element has overtaken for that element's`() {
        _ = source.throttle(.seconds(10), scheduler: scheduler).subscribe { [log] in log.add("\($0)") }
        source.onNext(1)
        scheduler.advance(by: 1)
        source.onNext(2)
        scheduler.advance(by: 9)
        source.onNext(3)
        scheduler.advance(by: 1)
        source.onNext(4)
        scheduler.fire(0)
        #expect(log.all == ["next(1)", "next(3)"])
        scheduler.fire(1)
        #expect(log.all == ["next(1)", "next(3)", "next(4)"])
        source.onCompleted()
        scheduler.forget()
    }

    @Test func `debounce doesn't take the timer of an element for the next one's`() {
        _ = source.debounce(.seconds(10), scheduler: scheduler).subscribe { [log] in log.add("\($0)") }
        source.onNext(1)
        source.onNext(2)
        scheduler.fire(0)
        #expect(log.all == [])
        scheduler.fire(1)
        #expect(log.all == ["next(2)"])
        source.onCompleted()
        scheduler.forget()
    }

    @Test func `timeout lets an event win against a timer that has gone off`() {
        _ = source.timeout(.seconds(10), scheduler: scheduler).subscribe { [log] in log.add("\($0)") }
        source.onNext(1)
        scheduler.fire(0)
        #expect(log.all == ["next(1)"])
        scheduler.fire(1)
        #expect(log.all == ["next(1)", "error(the sequence timed out)"])
        scheduler.forget()
    }

    @Test func `buffer and window don't end the next one with the timer of the last`() {
        _ = source.buffer(timeSpan: .seconds(10), count: 1, scheduler: scheduler).subscribe { [log] in log.add("\($0)")
        }
        source.onNext(1)
        scheduler.fire(0)
        #expect(log.all == ["next([1])"])
        scheduler.fire(1)
        #expect(log.all == ["next([1])", "next([])"])

        let other = LateTimers()
        let windows = Log<Int>()
        _ = source.window(timeSpan: .seconds(10), count: 1, scheduler: other).subscribe(onNext: { _ in windows.add(0) })
        source.onNext(1)
        other.fire(0)
        #expect(windows.all.count == 2)
        other.fire(1)
        #expect(windows.all.count == 3)
        source.onCompleted()
        for clock in [scheduler, other] { clock.forget() }
    }
}
