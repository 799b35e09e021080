import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct CombinationTests {
    let scheduler = TestScheduler()

    // MARK: merge

    @Test func `merge of one source passes it on`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { .merge([$0]) }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { .merge($0, .empty()) }
    }

    @Test func `merge sends as elements come, and completes with the last source`() {
        let first = scheduler.createHotObservable([.next(210, 1), .next(230, 3), .completed(240)])
        let second = scheduler.createHotObservable([.next(220, 2), .completed(225)])
        let seen = scheduler.start { Observable.merge(first.asObservable(), second.asObservable()) }
        #expect(seen.events == [.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        #expect(first.subscriptions == [Subscription(200, 240)])
        #expect(second.subscriptions == [Subscription(200, 225)])
    }

    @Test func `merge fails with the first that does, and lets go of the others`() {
        let first = scheduler.createHotObservable([.next(210, 1), .error(220, Failure())])
        let second = scheduler.createHotObservable([.next(230, 2)])
        let seen = scheduler.start { Observable.merge([first.asObservable(), second.asObservable()]) }
        #expect(seen.events == [.next(210, 1), .error(220, Failure())])
        #expect(second.subscriptions == [Subscription(200, 220)])
    }

    @Test func `merge of nothing completes`() {
        #expect(scheduler.start { Observable<Int>.merge([]) }.events == [.completed(200)])
    }

    @Test func `merge doesn't subscribe to sources after one that ended it`() {
        let second = scheduler.createHotObservable([.next(230, 2)])
        let seen = scheduler.start { Observable.merge(.just(1), second.asObservable()).take(1) }
        #expect(seen.events == [.next(200, 1), .completed(200)])
        #expect(second.subscriptions == [])
    }

    @Test func `merge of nested sequences takes each as it comes`() {
        let inner = scheduler.createColdObservable([.next(5, 1), .next(15, 2), .completed(20)])
        let outer = scheduler.createHotObservable([
            .next(210, inner.asObservable()), .next(220, inner.asObservable()), .completed(230),
        ])
        let seen = scheduler.start { outer.merge() }
        #expect(
            seen.events == [.next(215, 1), .next(225, 2), .next(225, 1), .next(235, 2), .completed(240)])
        #expect(inner.subscriptions == [Subscription(210, 230), Subscription(220, 240)])
    }

    // MARK: flatMap

    @Test func `flatMap of just passes on`() {
        expectPassingOn([.next(210, 2), .next(220, 4), .next(230, 6)]) { $0.flatMap { Observable.just($0 * 2) } }
        expectPassingOn([.next(210, 2), .next(220, 4), .next(230, 6)]) {
            $0.flatMap { Observable.just($0 * 2).map { $0 } }
        }
    }

    @Test func `flatMap fails with an inner sequence, and lets go of the source and the other inner ones`() {
        let inner = scheduler.createColdObservable([.next(5, "a")])
        let failing = scheduler.createColdObservable([.error(10, Failure(), String.self)])
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2)])
        let seen = scheduler.start { source.flatMap { $0 == 1 ? inner : failing } }
        #expect(seen.events == [.next(215, "a"), .error(230, Failure())])
        #expect(source.subscriptions == [Subscription(200, 230)])
        #expect(inner.subscriptions == [Subscription(210, 230)])
        #expect(failing.subscriptions == [Subscription(220, 230)])
    }

    @Test func `flatMap disposed of lets go of the source and all inner sequences`() {
        let inner = scheduler.createColdObservable([.next(5, "a")])
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2)])
        let seen = scheduler.start(disposed: 223) { source.flatMap { _ in inner } }
        #expect(seen.events == [.next(215, "a")])
        #expect(source.subscriptions == [Subscription(200, 223)])
        #expect(inner.subscriptions == [Subscription(210, 223), Subscription(220, 223)])
    }

    @Test func `an endless inner sequence stops where its subscriber does`() {
        let log = Log<Int>()
        let endless = Observable<Int>.just(0).flatMap { _ in
            Observable<Int>.create { observer in
                let wanted = Locked(true)
                for number in 0..<1_000_000 where wanted.withLock({ $0 }) {
                    observer.onNext(number)
                    if log.all.count == 3 { wanted.withLock { $0 = false } }
                }
                return Disposables.create()
            }
        }
        _ = endless.take(3).subscribe(onNext: { log.add($0) })
        #expect(log.all == [0, 1, 2])
    }

    @Test func `100 000 elements that each make a sequence leave nothing behind`() {
        let subject = PublishSubject<Int>()
        let sum = Locked(0)
        let subscription = subject.flatMap { Observable.just($0).map { $0 } }
            .subscribe(onNext: { number in sum.withLock { $0 += number } })
        weak var observed: Canary?
        for number in 0..<100_000 { subject.onNext(number) }
        do {
            let canary = Canary()
            observed = canary
            _ = subject.flatMap { _ in Observable.just(canary).map { $0 } }.take(1).subscribe()
            subject.onNext(0)
        }
        #expect(observed == nil)
        #expect(sum.withLock { $0 } == 4_999_950_000)
        subscription.dispose()
    }

    // MARK: flatMapLatest

    @Test func `flatMapLatest of just passes on`() {
        expectPassingOn([.next(210, 2), .next(220, 4), .next(230, 6)]) {
            $0.flatMapLatest { Observable.just($0 * 2) }
        }
    }

    @Test func `flatMapLatest lets go of an inner sequence when the next comes, and completes with the last`() {
        let inner = scheduler.createColdObservable([.next(5, 1), .next(15, 2), .completed(20)])
        let source = scheduler.createHotObservable([.next(210, "a"), .next(220, "b"), .completed(230)])
        let seen = scheduler.start { source.flatMapLatest { _ in inner } }
        #expect(seen.events == [.next(215, 1), .next(225, 1), .next(235, 2), .completed(240)])
        #expect(inner.subscriptions == [Subscription(210, 220), Subscription(220, 240)])
        #expect(source.subscriptions == [Subscription(200, 230)])
    }

    @Test func `switchLatest fails with its latest`() {
        let failing = scheduler.createColdObservable([.next(5, 1), .error(7, Failure())])
        let source = scheduler.createHotObservable([.next(210, failing.asObservable())])
        let seen = scheduler.start { source.switchLatest() }
        #expect(seen.events == [.next(215, 1), .error(217, Failure())])
        #expect(source.subscriptions == [Subscription(200, 217)])
    }

    // MARK: concat

    @Test func `concat passes its first source on`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.concat(.empty()) }
    }

    @Test func `concat subscribes to a source when the one before has been let go of`() {
        let first = scheduler.createColdObservable([.next(10, 1), .completed(20)])
        let second = scheduler.createColdObservable([.next(10, 2), .completed(20)])
        let seen = scheduler.start { first.concat(second) }
        #expect(seen.events == [.next(210, 1), .next(230, 2), .completed(240)])
        #expect(first.subscriptions == [Subscription(200, 220)])
        #expect(second.subscriptions == [Subscription(220, 240)])
    }

    @Test func `concat fails with the first that does, and doesn't subscribe to the next`() {
        let first = scheduler.createColdObservable([.error(20, Failure(), Int.self)])
        let second = scheduler.createColdObservable([.next(10, 2)])
        let seen = scheduler.start { Observable.concat(first.asObservable(), second.asObservable()) }
        #expect(seen.events == [.error(220, Failure())])
        #expect(second.subscriptions == [])
    }

    @Test func `concat of 100 000 sources that complete at once doesn't use up the stack`() {
        let sources = [Observable<Int>](repeating: .just(1), count: 100_000)
        let sum = Locked(0)
        let completed = Log<Int>()
        #expect(
            finishes {
                _ = Observable.concat(sources).subscribe(
                    onNext: { number in sum.withLock { $0 += number } }, onCompleted: { completed.add(1) })
            })
        #expect(sum.withLock { $0 } == 100_000)
        #expect(completed.all == [1])
    }

    // MARK: take(until:)

    @Test func `take until a sequence that sends nothing passes on`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.take(until: Observable<Int>.never()) }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.take(until: Observable<Int>.empty()) }
    }

    @Test func `take until completes with the other's first element, and lets go of both`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3)])
        let other = scheduler.createHotObservable([.next(225, "now"), .next(235, "again")])
        let seen = scheduler.start { source.take(until: other) }
        #expect(seen.events == [.next(210, 1), .next(220, 2), .completed(225)])
        #expect(source.subscriptions == [Subscription(200, 225)])
        #expect(other.subscriptions == [Subscription(200, 225)])
    }

    @Test func `take until fails with the other`() {
        let source = scheduler.createHotObservable([.next(210, 1)])
        let other = scheduler.createHotObservable([.error(225, Failure(), String.self)])
        let seen = scheduler.start { source.take(until: other) }
        #expect(seen.events == [.next(210, 1), .error(225, Failure())])
        #expect(source.subscriptions == [Subscription(200, 225)])
    }

    @Test func `take until something that is already there never subscribes to the source`() {
        let source = scheduler.createHotObservable([.next(210, 1)])
        let seen = scheduler.start { source.take(until: Observable.just(1)) }
        #expect(seen.events == [.completed(200)])
        #expect(source.subscriptions == [])
    }

    // MARK: taking turns

    @Test func `sources that loop on one thread take turns`() {
        let log = Log<Int>()
        _ = Observable.merge(.of(1, 3, 5), .of(2, 4, 6)).subscribe(onNext: { log.add($0) })
        #expect(log.all == [1, 2, 3, 4, 5, 6])
    }
}
