import Dispatch
import Foundation
import Locking
import ResourceCounting
import Rx
import Synchronization
import Testing

/// Random subscribing, sending and disposing from eight threads, for `RX_STRESS_SECONDS` (1 unless it is set).
@Suite(.countsResources) struct RandomStressTests {
    @Test func `eight threads at random lose no event, mix none up, and leave nothing behind`() {
        let seconds = ProcessInfo.processInfo.environment["RX_STRESS_SECONDS"].flatMap(Double.init) ?? 1
        let alive = Locked(0)
        do {
            let field = Field(alive)
            let done = DispatchGroup()
            for thread in 0..<Field.threads {
                done.enter()
                Thread {
                    field.run(thread: thread, seconds: seconds)
                    done.leave()
                }.start()
            }
            done.wait()
            field.expectNothingLost()
        }
        #expect(becomesTrue { alive.withLock { $0 } == 0 })
    }
}

/// An event of the stress test: which thread sent it, and as its how many-th.
private struct Tag: Sendable, Equatable {
    let thread: Int
    let number: Int
}

/// Counts who holds it.
private final class Guest: Sendable {
    private let alive: Locked<Int>

    init(_ alive: Locked<Int>) {
        self.alive = alive
        alive.withLock { $0 += 1 }
    }

    deinit { alive.withLock { $0 -= 1 } }
}

/// Events that have been sent and not seen.
private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}

/// Notes the latest event of each thread.
///
/// `@unchecked`: one event is delivered after the other; the test reads when the threads are done.
private final class Witness: @unchecked Sendable {
    private(set) var counts = Array(repeating: 0, count: Field.threads)
    private(set) var isInOrder = true
    private var last = Array(repeating: -1, count: Field.threads)
    private let outstanding: Counter

    init(_ outstanding: Counter) { self.outstanding = outstanding }

    func see(_ tag: Tag) {
        outstanding.add(-1)
        if tag.number <= last[tag.thread] { isInOrder = false }
        last[tag.thread] = tag.number
        counts[tag.thread] += 1
    }
}

private final class Field: Sendable {
    static let threads = 8
    private static let slots = 16  // subscriptions a thread holds at once
    private static let mostOutstanding = 1_000  // events; more would only fill the memory

    private let alive: Locked<Int>
    private let publish = PublishSubject<Tag>()
    private let behavior = BehaviorRelay(value: Tag(thread: 0, number: -1))
    private let replay = ReplaySubject<Tag>.create(bufferSize: 4)
    private let shared: Observable<Tag>
    private let queue = SerialDispatchQueueScheduler(internalSerialQueueName: "stress")
    private let outstanding = Counter()
    private let witnesses: [Witness]
    private let sent = Locked(Array(repeating: Array(repeating: 0, count: Field.threads), count: 3))
    private let bag = DisposeBag()

    init(_ alive: Locked<Int>) {
        self.alive = alive
        let counter = outstanding
        witnesses = (0..<3).map { _ in Witness(counter) }
        shared = publish.share(replay: 2)
        for (witness, source) in zip(witnesses, [publish, behavior.asObservable().skip(1), replay]) {
            source.subscribe(onNext: { witness.see($0) }).disposed(by: bag)
        }
    }

    func run(thread: Int, seconds: Double) {
        let deadline = DispatchTime.now() + seconds
        var held: [any Disposable] = []
        var count = 0
        repeat {
            while outstanding.value > Self.mostOutstanding { sched_yield() }
            for _ in 0..<64 {
                let choice = Int.random(in: 0..<10)
                if choice < 6 {
                    send(Tag(thread: thread, number: count), to: choice % 3)
                    count += 1
                } else if held.count < Self.slots {
                    held.append(subscribe())
                } else {
                    held.remove(at: .random(in: held.indices)).dispose()
                }
            }
        } while DispatchTime.now() < deadline
        for subscription in held { subscription.dispose() }
    }

    func expectNothingLost() {
        for (witness, counts) in zip(witnesses, sent.withLock { $0 }) {
            #expect(witness.counts == counts)
            #expect(witness.isInOrder)
        }
    }

    private func send(_ tag: Tag, to subject: Int) {
        outstanding.add(1)
        switch subject {
        case 0: publish.onNext(tag)
        case 1: behavior.accept(tag)
        default: replay.onNext(tag)
        }
        sent.withLock { $0[subject][tag.thread] += 1 }
    }

    private func subscribe() -> any Disposable {
        let guest = Guest(alive)
        return chain().subscribe(onNext: { _ in withExtendedLifetime(guest) {} })
    }

    private func chain() -> Observable<Tag> {
        switch Int.random(in: 0..<12) {
        case 0: publish.map { $0 }.filter { $0.number % 2 == 0 }.take(5)
        case 1: .merge(publish, behavior.asObservable(), replay)
        case 2: .combineLatest(publish, behavior, replay) { first, _, _ in first }
        case 3: .zip(publish, replay) { first, _ in first }
        case 4: publish.flatMapLatest { [behavior] _ in behavior.asObservable() }
        case 5: publish.concatMap { Observable.of($0, $0) }.scan(Tag(thread: 0, number: 0)) { $1 }
        case 6: shared.withLatestFrom(behavior)
        case 7: publish.observe(on: queue)
        case 8: replay.publish().refCount().take(until: shared)
        case 9: shared.debounce(.milliseconds(1), scheduler: queue).amb(behavior.asObservable().skip(2))
        case 10: publish.window(timeSpan: .milliseconds(2), count: 3, scheduler: queue).switchLatest()
        default:
            publish.groupBy { $0.thread }.flatMap { $0 }.buffer(timeSpan: .milliseconds(1), count: 9, scheduler: queue)
                .compactMap(\.last)
        }
    }
}
