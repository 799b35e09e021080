import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct SystemTests {
    let scheduler = TestScheduler()

    @Test func `each event is reduced in order, and each effect reaches every loop and then the observer`() {
        let log = Log<String>()
        let system = Observable.system(
            initialState: 0,
            reduce: { (sum: inout Int, event: Int) -> [String] in
                sum += event
                return ["a\(sum)", "b\(sum)"]
            },
            scheduler: scheduler,
            feedback: [
                { effects in effects.do(onNext: { log.add("1:\($0)") }).compactMap { $0 == "a1" ? 10 : nil } },
                { effects in effects.do(onNext: { log.add("2:\($0)") }).flatMap { _ in Observable<Int>.empty() } },
                { _ in .of(1, 2) },
            ])

        let subscription = system.subscribe(onNext: { log.add("out:\($0)") })
        defer { subscription.dispose() }
        #expect(log.all == [], "nothing is handled inside subscribe")
        scheduler.start()

        let expected = ["a1", "b1", "a3", "b3", "a13", "b13"].flatMap { ["1:\($0)", "2:\($0)", "out:\($0)"] }
        #expect(log.all == expected)
    }

    @Test func `disposing stops every loop, and no event is handled any more`() {
        let clicks = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3)])
        let ticks = scheduler.createColdObservable([.next(5, 10), .next(500, 20)])
        let reduced = Log<Int>()

        let seen = scheduler.start(created: 100, subscribed: 200, disposed: 225) { [scheduler] in
            Observable.system(
                initialState: (),
                reduce: { (_: inout Void, event: Int) -> [Int] in
                    reduced.add(event)
                    return [event]
                },
                scheduler: scheduler, feedback: [{ _ in clicks.asObservable() }, { _ in ticks.asObservable() }])
        }

        #expect(seen.events == [.next(206, 10), .next(211, 1), .next(221, 2)])
        #expect(reduced.all == [10, 1, 2])
        #expect(clicks.subscriptions == [Subscription(200, 225)])
        #expect(ticks.subscriptions == [Subscription(200, 225)])
    }

    @Test func `the error of a loop ends the system with it, after the events before it`() {
        let failing = scheduler.createColdObservable([.next(10, 1), .error(10, Failure())])
        let other = scheduler.createColdObservable([.next(900, 2)])

        let seen = scheduler.start { [scheduler] in
            Observable.system(
                initialState: 0, reduce: { (_: inout Int, event: Int) in [event] }, scheduler: scheduler,
                feedback: [{ _ in failing.asObservable() }, { _ in other.asObservable() }])
        }

        #expect(seen.events == [.next(211, 1), .error(211, Failure())])
        #expect(other.subscriptions == [Subscription(200, 211)])
    }

    @Test func `a system whose loops have all completed completes`() {
        let seen = scheduler.start { [scheduler] in
            Observable.system(
                initialState: 0, reduce: { (_: inout Int, event: Int) in [event] }, scheduler: scheduler,
                feedback: [{ _ in .just(1) }, { effects in effects.take(1).map { $0 + 1 } }])
        }

        #expect(seen.events == [.next(201, 1), .next(201, 2), .completed(201)])
    }

    @Test func `the state is changed in place`() {
        let addresses = Log<UInt>()
        let system = Observable.system(
            initialState: [Int](repeating: 0, count: 1_000),
            reduce: { (state: inout [Int], event: Int) -> [Int] in
                state[event] = event
                addresses.add(state.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
                return [event]
            },
            scheduler: scheduler, feedback: [{ _ in .from(Array(0..<100)) }])

        _ = system.subscribe(onNext: { _ in })
        scheduler.start()

        #expect(addresses.all.count == 100)
        #expect(Set(addresses.all.dropFirst()).count == 1, "only the first change may copy, from the initial value")
    }

    @Test func `disposing from inside an effect sends no further effect`() {
        let log = Log<Int>()
        let subscription = SerialDisposable()
        subscription.disposable = Observable.system(
            initialState: 0, reduce: { (_: inout Int, event: Int) in [event, event + 1] }, scheduler: scheduler,
            feedback: [{ effects in Observable<Int>.just(1).concat(effects.filter { $0 > 5 }) }]
        ).map { log.add($0) }.subscribe(onNext: { subscription.dispose() })
        scheduler.start()
        #expect(log.all == [1])
    }

    @Test func `events from eight threads are handled one at a time, none lost, each thread's in order`() {
        let inputs = (0..<8).map { _ in PublishSubject<Int>() }
        let done = DispatchSemaphore(value: 0)
        let seen = Unguarded<Int>()
        let loops = inputs.map { input in { @Sendable (_: Observable<Int>) in input.asObservable() } }
        let subscription = Observable.system(
            initialState: 0,
            reduce: { (count: inout Int, event: Int) -> [Int] in
                count += 1
                return count == 40_000 ? [event, -1] : [event]
            },
            scheduler: SerialDispatchQueueScheduler(internalSerialQueueName: "system"), feedback: loops
        ).subscribe(onNext: { if $0 < 0 { done.signal() } else { seen.seen.append($0) } })

        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<5_000 { inputs[thread].onNext(thread * 5_000 + number) }
        }

        #expect(done.wait(timeout: .now() + 20) == .success)
        for thread in 0..<8 {
            #expect(seen.seen.filter { $0 / 5_000 == thread } == Array(thread * 5_000..<(thread + 1) * 5_000))
        }
        subscription.dispose()
        #expect(inputs.allSatisfy { !$0.hasObservers })
    }

    @Test func `an event that comes while the scheduler still starts the last turn gets a turn of its own`() {
        let input = PublishSubject<Int>()
        let scheduler = EagerOnce { input.onNext(1) }
        let log = Log<Int>()
        let subscription = Observable.system(
            initialState: 0, reduce: { (_: inout Int, event: Int) in [event] }, scheduler: scheduler,
            feedback: [{ _ in input.asObservable() }]
        ).subscribe(onNext: { log.add($0) })
        defer { subscription.dispose() }
        scheduler.runOthers()
        #expect(log.all == [1])
    }
}

/// Runs the first work inside `schedule`, as a thread that is quicker than the scheduling one would; the others later.
private final class EagerOnce: ImmediateSchedulerType {
    private let afterFirst: Locked<(@Sendable () -> Void)?>
    private let others = Locked<[@Sendable () -> Void]>([])

    init(afterFirst: @escaping @Sendable () -> Void) { self.afterFirst = Locked(afterFirst) }

    func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        if let afterFirst = afterFirst.withLock({ $0.take() }) {
            let started = action(state)
            afterFirst()
            return started
        }
        let isCancelled = Locked(false)
        others.withLock { $0.append { if !isCancelled.withLock({ $0 }) { _ = action(state) } } }
        return Disposables.create { isCancelled.withLock { $0 = true } }
    }

    func runOthers() {
        let works = others.withLock { others in
            defer { others = [] }
            return others
        }
        for work in works { work() }
    }
}
