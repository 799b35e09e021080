import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct TraitTests {
    let scheduler = TestScheduler()

    @Test func `a single sends one element, or fails`() {
        let log = Log<String>()
        let success = Single<Int>.create { observer in
            observer(.success(1))
            observer(.success(2))
            return Disposables.create()
        }
        let failure = Single<Int>.create { observer in
            observer(.failure(Failure()))
            return Disposables.create()
        }
        for single in [success, failure, .just(3), .error(Failure())] {
            _ = single.subscribe { log.add("\($0)") }
            _ = single.subscribe(
                onSuccess: { log.add("\($0)") }, onFailure: { log.add("\($0)") }, onDisposed: { log.add("disposed") })
        }
        #expect(
            log.all == [
                "success(1)", "1", "disposed", "failure(RxTests.Failure())", "Failure()", "disposed", "success(3)", "3",
                "disposed", "failure(RxTests.Failure())", "Failure()", "disposed",
            ])
        #expect(scheduler.start { Single<Int>.never() }.events == [])
    }

    @Test func `subscribing with an object passes it on, and nothing once it has gone`() {
        let log = Log<String>()
        let subject = PublishSubject<Int>()
        var object: Canary? = Canary()
        let again = object
        if let object {
            _ = subject.subscribe(
                with: object, onNext: { _, element in log.add("\(element)") }, onCompleted: { _ in log.add("over") })
            _ = Single.just(1).subscribe(
                with: object, onSuccess: { log.add("single \($1)") }, onDisposed: { _ in log.add("disposed") })
            _ = Maybe.just(1).subscribe(with: object, onSuccess: { log.add("maybe \($1)") })
            _ = Maybe<Int>.empty().subscribe(with: object, onCompleted: { _ in log.add("empty") })
            _ = Completable.error(Failure()).subscribe(with: object, onError: { log.add("\($1)") })
            _ = Infallible.of(1, 2).subscribe(with: object, onNext: { log.add("infallible \($1)") })
        }
        #expect(
            log.all == [
                "single 1", "disposed", "maybe 1", "empty", "Failure()", "infallible 1", "infallible 2",
            ])
        subject.onNext(7)
        #expect(log.all.last == "7")
        withExtendedLifetime(again) {}
        object = nil
    }

    @Test func `a subscription with an object doesn't keep it`() {
        let log = Log<Int>()
        let subject = PublishSubject<Int>()
        do {
            let object = Canary()
            _ = subject.subscribe(with: object, onNext: { log.add($1) }, onCompleted: { _ in log.add(-1) })
            subject.onNext(1)
        }
        subject.onNext(2)
        subject.onCompleted()
        #expect(log.all == [1])
    }

    @Test func `a single's operators`() {
        let one = Single.just(1)
        func result<Element: Equatable & Sendable>(_ single: Single<Element>) -> [Recorded<Event<Element>>] {
            TestScheduler().start { single }.events
        }
        func outcome<Element: Equatable & Sendable>(_ maybe: Maybe<Element>) -> [Recorded<Event<Element>>] {
            TestScheduler().start { maybe }.events
        }
        #expect(result(one.map { $0 + 1 }) == [.next(200, 2), .completed(200)])
        #expect(result(one.map { _ -> Int in throw Failure() }) == [.error(200, Failure())])
        #expect(result(one.flatMap { .just($0 + 1) }) == [.next(200, 2), .completed(200)])
        #expect(outcome(one.flatMapMaybe { _ in Maybe<Int>.empty() }) == [.completed(200)])
        #expect(outcome(one.filter { $0 > 1 }) == [.completed(200)])
        #expect(outcome(one.compactMap { _ in Int?.none }) == [.completed(200)])
        #expect(outcome(one.asMaybe()) == [.next(200, 1), .completed(200)])
        #expect(result(Single<Int>.error(Failure()).catchAndReturn(9)) == [.next(200, 9), .completed(200)])
        #expect(result(Single<Int>.error(Failure()).catch { _ in one }) == [.next(200, 1), .completed(200)])
        #expect(result(Single.zip(one, one) { $0 + $1 }) == [.next(200, 2), .completed(200)])
        #expect(result(Single.zip(one, one, one).map { $0 + $1 + $2 }) == [.next(200, 3), .completed(200)])
        #expect(result(Single.zip([one, one])) == [.next(200, [1, 1]), .completed(200)])
        #expect(result(Single<Int>.zip([]) { $0.count }) == [.next(200, 0), .completed(200)])
        #expect(result(Single<Int>.zip([one, .error(Failure())])) == [.error(200, Failure())])
        #expect(outcome(Maybe.zip(Maybe.just(1), Maybe.just(2)) { $0 + $1 }) == [.next(200, 3), .completed(200)])
        #expect(outcome(Maybe.zip(Maybe.just(1), Maybe.just(2)).map { $0 + $1 }) == [.next(200, 3), .completed(200)])
        let log = Log<String>()
        _ = one.asCompletable().subscribe { log.add("\($0)") }
        _ = one.flatMapCompletable { _ in .error(Failure()) }.subscribe { log.add("\($0)") }
        _ = one.do(onSuccess: { log.add("do \($0)") }, afterSuccess: { log.add("after \($0)") }).subscribe()
        #expect(log.all == ["completed", "error(RxTests.Failure())", "do 1", "after 1"])
    }

    @Test func `what all traits share`() {
        let attempts = Locked(0)
        let flaky = Single<Int>.deferred {
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            return attempt % 3 == 0 ? .just(attempt) : .error(Failure())
        }
        let log = Log<String>()
        _ = flaky.retry().subscribe { log.add("\($0)") }
        _ = flaky.retry(2).subscribe { log.add("\($0)") }
        _ = flaky.retry(when: { (errors: Observable<any Error>) in errors }).subscribe { log.add("\($0)") }
        _ = flaky.retry(when: { (errors: Observable<Failure>) in errors }).subscribe { log.add("\($0)") }
        #expect(log.all == ["success(3)", "failure(RxTests.Failure())", "success(6)", "success(9)"])

        let times: [(@Sendable (TestScheduler) -> Single<Int>, [Recorded<Event<Int>>])] = [
            ({ Single.just(1).delay(.seconds(5), scheduler: $0) }, [.next(205, 1), .completed(206)]),
            ({ Single.just(1).delaySubscription(.seconds(5), scheduler: $0) }, [.next(205, 1), .completed(205)]),
            ({ Single.just(1).observe(on: $0) }, [.next(201, 1), .completed(202)]),
            ({ Single.just(1).subscribe(on: $0) }, [.next(201, 1), .completed(201)]),
            ({ Single.just(1, scheduler: $0) }, [.next(201, 1), .completed(202)]),
            ({ Single.never().timeout(.seconds(5), scheduler: $0) }, [.error(205, RxError.timeout)]),
            (
                { Single.never().timeout(.seconds(5), other: .just(2), scheduler: $0) },
                [.next(205, 2), .completed(205)]
            ),
            ({ Single.timer(.seconds(5), scheduler: $0) }, [.next(205, 0), .completed(205)]),
            ({ _ in Single.just(1).debug("single") }, [.next(200, 1), .completed(200)]),
            (
                { _ in
                    Single.using({ BooleanDisposable() }, primitiveSequenceFactory: { _ in .just(1) })
                }, [.next(200, 1), .completed(200)]
            ),
        ]
        for (make, expected) in times {
            let scheduler = TestScheduler()
            #expect(scheduler.start { make(scheduler) }.events == expected)
        }
    }

    @Test func `a maybe sends one element, none, or fails`() {
        let log = Log<String>()
        let success = Maybe<Int>.create { observer in
            observer(.success(1))
            observer(.completed)
            return Disposables.create()
        }
        let failure = Maybe<Int>.create { observer in
            observer(.error(Failure()))
            return Disposables.create()
        }
        let none = Maybe<Int>.create { observer in
            observer(.completed)
            return Disposables.create()
        }
        for maybe in [success, failure, none, .just(2), .error(Failure()), .empty()] {
            _ = maybe.subscribe { log.add("\($0)") }
        }
        let error = "error(RxTests.Failure())"
        #expect(log.all == ["success(1)", error, "completed", "success(2)", error, "completed"])
        #expect(scheduler.start { Maybe<Int>.never() }.events == [])
    }

    @Test func `a maybe's operators`() {
        let one = Maybe.just(1), none = Maybe<Int>.empty()
        func outcome<Element: Equatable & Sendable, Trait>(
            _ sequence: PrimitiveSequence<Trait, Element>
        ) -> [Recorded<Event<Element>>] {
            let observable = sequence.asObservable()
            return TestScheduler().start { observable }.events
        }
        #expect(outcome(one.map { $0 + 1 }) == [.next(200, 2), .completed(200)])
        #expect(outcome(one.compactMap { $0 }) == [.next(200, 1), .completed(200)])
        #expect(outcome(one.filter { $0 > 1 }) == [.completed(200)])
        #expect(outcome(one.flatMap { .just($0 + 1) }) == [.next(200, 2), .completed(200)])
        #expect(outcome(none.ifEmpty(default: 5)) == [.next(200, 5), .completed(200)])
        #expect(outcome(none.ifEmpty(switchTo: one)) == [.next(200, 1), .completed(200)])
        #expect(outcome(none.ifEmpty(switchTo: Single.just(4))) == [.next(200, 4), .completed(200)])
        #expect(outcome(Maybe<Int>.error(Failure()).catchAndReturn(3)) == [.next(200, 3), .completed(200)])
        let log = Log<String>()
        _ = one.asCompletable().subscribe { log.add("\($0)") }
        _ = one.do(onNext: { log.add("do \($0)") }, onCompleted: { log.add("over") }).subscribe(
            onSuccess: { log.add("\($0)") }, onCompleted: { log.add("none") })
        _ = Maybe.just(7, scheduler: CurrentThreadScheduler.instance).subscribe(onSuccess: { log.add("\($0)") })
        #expect(log.all == ["completed", "do 1", "1", "over", "7"])
    }

    @Test func `a completable only ends`() {
        let log = Log<String>()
        let completing = Completable.create { observer in
            observer(.completed)
            observer(.error(Failure()))
            return Disposables.create()
        }
        let failing = Completable.create { observer in
            observer(.error(Failure()))
            return Disposables.create()
        }
        for completable in [completing, failing, .empty(), .error(Failure()), .never()] {
            _ = completable.subscribe { log.add("\($0)") }
        }
        let error = "error(RxTests.Failure())"
        #expect(log.all == ["completed", error, "completed", error])
        _ = completing.do(onCompleted: { log.add("do") }).subscribe(onCompleted: { log.add("over") })
        #expect(log.all.suffix(2) == ["do", "over"])
        #expect(Log<String>().all == [])
    }

    @Test func `completables run one after the other, or all at once`() {
        let log = Log<String>()
        let step = { @Sendable (name: String) in
            Completable.create { observer in
                log.add(name)
                observer(.completed)
                return Disposables.create { log.add("end \(name)") }
            }
        }
        _ = step("a").concat(step("b")).subscribe { log.add("\($0)") }
        #expect(log.all == ["a", "end a", "b", "end b", "completed"])
        let others = Log<String>()
        _ = Completable.concat(.empty(), .error(Failure()), .never()).subscribe { others.add("\($0)") }
        _ = Completable.zip(.empty(), .empty()).subscribe { others.add("\($0)") }
        _ = Completable.zip([.never(), .error(Failure())]).subscribe { others.add("\($0)") }
        _ = Observable<Never>.empty().asCompletable().subscribe { others.add("\($0)") }
        let error = "error(RxTests.Failure())"
        #expect(others.all == [error, "completed", error, "completed"])
    }

    @Test func `andThen goes on once it has completed and been let go of, and not after an error`() {
        let first = scheduler.createColdObservable([.completed(10, Never.self)])
        let second = scheduler.createColdObservable([.next(5, 1), .completed(10)])
        let seen = scheduler.start { first.asObservable().asCompletable().andThen(second.asObservable()) }
        #expect(seen.events == [.next(215, 1), .completed(220)])
        #expect(first.subscriptions == [Subscription(200, 210)])
        #expect(second.subscriptions == [Subscription(210, 220)])
        let log = Log<String>()
        _ = Completable.empty().andThen(Single.just(1)).subscribe { log.add("\($0)") }
        _ = Completable.empty().andThen(Maybe.just(2)).subscribe { log.add("\($0)") }
        _ = Completable.empty().andThen(Completable.empty()).subscribe { log.add("\($0)") }
        _ = Completable.error(Failure()).andThen(Single.just(1)).subscribe { log.add("\($0)") }
        #expect(log.all == ["success(1)", "success(2)", "completed", "failure(RxTests.Failure())"])
    }
}
