import Dispatch
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct InfallibleTests {
    private let scheduler = TestScheduler()

    /// What it makes of 1, 2, 3 at 210, 220, 230 and the completion at 240.
    private func outcome<Result: Equatable & Sendable>(
        _ apply: @escaping @Sendable (Infallible<Int>, TestScheduler) -> Infallible<Result>
    ) -> [Recorded<Event<Result>>] {
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        return scheduler.start { apply(source.asInfallible(onErrorJustReturn: 0), scheduler) }.events
    }

    @Test func `an error becomes an element or another sequence`() {
        let failing = Observable<Int>.error(Failure())
        let log = Log<String>()
        _ = failing.asInfallible(onErrorJustReturn: 1).subscribe { log.add("\($0)") }
        _ = failing.asInfallible(onErrorFallbackTo: .just(2)).subscribe { log.add("\($0)") }
        _ = failing.asInfallible(onErrorRecover: { _ in .of(3, 4) }).subscribe(
            onNext: { log.add("\($0)") }, onCompleted: { log.add("over") }, onDisposed: { log.add("disposed") })
        #expect(log.all == ["next(1)", "completed", "next(2)", "completed", "3", "4", "over", "disposed"])
        _ = PublishRelay<Int>().asInfallible()
        _ = BehaviorRelay(value: 5).asInfallible().subscribe(onNext: { log.add("\($0)") })
        _ = ReplayRelay<Int>.createUnbound().asInfallible()
        #expect(log.all.last == "5")
    }

    @Test func `creation`() {
        let log = Log<String>()
        let created = Infallible<Int>.create { observer in
            observer(.next(1))
            observer(.completed)
            return Disposables.create()
        }
        let all: [Infallible<Int>] = [
            created, .just(2), .just(3, scheduler: CurrentThreadScheduler.instance), .empty(), .of(4, 5), .from([6]),
            .from(Set([7])), .deferred { .just(8) }, .never(),
        ]
        for source in all { _ = source.subscribe { log.add("\($0.event)") } }
        let over = "completed"
        #expect(
            log.all == [
                "next(1)", over, "next(2)", over, "next(3)", over, over, "next(4)", "next(5)", over, "next(6)", over,
                "next(7)", over, "next(8)", over,
            ])
    }

    @Test func `what goes through unchanged`() {
        let same: [@Sendable (Infallible<Int>, TestScheduler) -> Infallible<Int>] = [
            { source, _ in source.filter { _ in true } }, { source, _ in source.map { $0 } },
            { source, _ in source.compactMap { $0 } }, { source, _ in source.distinctUntilChanged() },
            { source, _ in source.distinctUntilChanged { $0 } },
            { source, _ in source.distinctUntilChanged { $0 == $1 } },
            { source, _ in source.distinctUntilChanged({ $0 }, comparer: { $0 == $1 }) },
            { source, _ in source.distinctUntilChanged(at: \.self) },
            { source, scheduler in source.throttle(.seconds(1), scheduler: scheduler) },
            { source, _ in source.scan(0) { $1 } }, { source, _ in source.scan(into: 0) { $0 = $1 } },
            { source, _ in source.take(9) }, { source, _ in source.take(while: { _ in true }) },
            { source, _ in source.take(until: { _ in false }) },
            { source, _ in source.take(until: Infallible<Int>.never()) },
            { source, _ in source.take(until: Observable<Int>.never()) },
            { source, scheduler in source.take(for: .seconds(90), scheduler: scheduler) },
            { source, _ in source.skip(0) }, { source, _ in source.skip(while: { _ in false }) },
            { source, _ in source.skip(until: Observable<Int>.error(Failure())) }, { source, _ in source.share() },
            { source, _ in source.do(onNext: { _ in }) }, { source, _ in source.debug("infallible") },
            { source, _ in source.flatMap { Infallible.just($0) } },
            { source, _ in source.flatMapLatest { Infallible.just($0) } },
            { source, _ in source.flatMapFirst { Infallible.just($0) } },
            { source, _ in source.concatMap { Infallible.just($0) } },
            { source, _ in source.concat(Infallible.empty()) }, { source, _ in .concat(source, .empty()) },
            { source, _ in .merge(source, .empty()) }, { source, _ in .merge([source]) },
            { source, _ in .combineLatest(source, Infallible.just(0)) { $0 + $1 } },
            { source, _ in .combineLatest([source]) { $0[0] } },
            { source, _ in Infallible.combineLatest([source]).map { $0[0] } },
            { source, _ in Infallible.combineLatest(source, Infallible.just(0)).map { $0 + $1 } },
            { source, _ in .zip(source, .of(0, 0, 0)) { $0 + $1 } },
            { source, _ in Infallible.zip(source, Infallible.of(0, 0, 0)).map { $0 + $1 } },
            { source, _ in source.withLatestFrom(Infallible.just(0)) { $0 + $1 } },
        ]
        for apply in same {
            #expect(outcome(apply) == [.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        }
    }

    @Test func `what changes`() {
        let owner = Canary()
        #expect(outcome { source, _ in source.withLatestFrom(Infallible.just(9)) }.first == .next(210, 9))
        #expect(outcome { source, _ in source.startWith(0) }.first == .next(200, 0))
        #expect(outcome { source, _ in source.withUnretained(owner).map { $1 } }.count == 4)
        #expect(outcome { source, _ in source.withUnretained(owner) { $1 * 2 } }.first == .next(210, 2))
        #expect(
            outcome { source, scheduler in source.debounce(.seconds(5), scheduler: scheduler) }
                == [.next(215, 1), .next(225, 2), .next(235, 3), .completed(240)])
        #expect(
            outcome { source, scheduler in source.observe(on: scheduler) }
                == [.next(211, 1), .next(221, 2), .next(231, 3), .completed(241)])
        #expect(outcome { source, scheduler in source.subscribe(on: scheduler) }.first == .next(210, 1))
        #expect(outcome { source, _ in source.take(until: Observable<Int>.error(Failure())) } == [.completed(200)])
    }
}
