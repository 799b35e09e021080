import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import ResourceCounting
import Testing

/// Sequences of one element and an ending, from whatever sends both in one go.
private let endings: [(name: String, make: @Sendable (TestScheduler) -> Observable<Int>)] = [
    ("just", { _ in .just(1) }), ("just on a scheduler", { .just(1, scheduler: $0) }), ("of", { _ in .of(1) }),
    ("from optional", { _ in .from(optional: 1) }), ("deferred", { _ in .deferred { .just(1) } }),
    ("range", { _ in .range(start: 1, count: 1) }), ("timer", { .timer(.seconds(1), scheduler: $0) }),
    (
        "create",
        { _ in
            .create { observer in
                observer.onNext(1)
                observer.onCompleted()
                return Disposables.create()
            }
        }
    ),
    ("take", { _ in Observable.of(1, 2).take(1) }), ("element at", { _ in Observable.of(1, 2).element(at: 0) }),
    ("take while", { _ in Observable.of(1, 2).take(while: { _ in false }, behavior: .inclusive) }),
    ("take until", { _ in Observable.of(1, 2).take(until: { _ in true }, behavior: .inclusive) }),
    ("take last", { _ in Observable.of(1, 2).takeLast(1) }), ("single", { _ in Observable.just(1).single() }),
    ("as single", { _ in Observable.just(1).asSingle().asObservable() }),
    ("first", { _ in Observable.just(1).first().asObservable().compactMap { $0 } }),
    ("reduce", { _ in Observable.of(1, 2).reduce(0, accumulator: +) }),
    ("to array", { _ in Observable.of(1, 2).toArray().asObservable().map(\.count) }),
    ("materialize", { _ in Observable<Int>.empty().materialize().map { _ in 1 } }),
    ("dematerialize", { _ in Observable.just(1).materialize().dematerialize() }),
    ("catch and return", { _ in Observable.error(Failure()).catchAndReturn(1) }),
    ("if empty", { _ in Observable.empty().ifEmpty(default: 1) }),
    ("start with", { _ in Observable.empty().startWith(1) }), ("concat", { _ in Observable.just(1).concat(.empty()) }),
    ("merge", { _ in .merge(.just(1), .empty()) }),
    ("flatMap", { _ in Observable.just(1).flatMap { Observable.just($0) } }),
    ("concatMap", { _ in Observable.just(1).concatMap { Observable.of($0) } }),
    ("zip", { _ in .zip(Observable.just(1), Observable.just(2)) { $0 + $1 } }),
    ("combineLatest", { _ in .combineLatest(Observable.just(1), Observable.just(2)) { $0 + $1 } }),
    ("debounce", { Observable.just(1).debounce(.seconds(1), scheduler: $0) }),
    ("delay", { Observable.just(1).delay(.seconds(1), scheduler: $0) }),
    ("buffer", { Observable.just(1).buffer(timeSpan: .seconds(9), count: 2, scheduler: $0).map(\.count) }),
    ("sample", { _ in Observable.just(1).sample(Observable.just(2)) }),
    ("observe on", { Observable.just(1).observe(on: $0) }),
    ("publish", { _ in Observable.just(1).publish().refCount() }),
    (
        "share for good",
        { _ in
            let shared = Observable.just(1).share(replay: 1, scope: .forever)
            _ = shared.subscribe()
            return shared
        }
    ),
    (
        "replay subject",
        { _ in
            let subject = ReplaySubject<Int>.create(bufferSize: 1)
            _ = Observable.just(1).subscribe(subject)
            return subject
        }
    ),
    (
        "async subject",
        { _ in
            let subject = AsyncSubject<Int>()
            _ = Observable.just(1).subscribe(subject)
            return subject
        }
    ),
]

@Suite(.countsResources) struct AfterDisposalTests {
    @Test(arguments: endings.map(\.name))
    func `the ending isn't sent once nobody wants more than the element`(name: String) throws {
        let scheduler = TestScheduler()
        let make = try #require(endings.first { $0.name == name }?.make)
        let log = Log<String>()
        let source = make(scheduler).do(
            onNext: { _ in log.add("next") }, onError: { _ in log.add("error") }, onCompleted: { log.add("completed") })
        _ = source.take(1).subscribe(onNext: { _ in log.add("taken") }, onDisposed: { log.add("disposed") })
        scheduler.start()
        #expect(log.all == ["next", "taken", "disposed"])
    }
}
