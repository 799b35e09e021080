import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct ShareTests {
    let scheduler = TestScheduler()
    static let kinds: [(Int, SubjectLifetimeScope)] = [
        (0, .whileConnected), (1, .whileConnected), (2, .whileConnected), (0, .forever), (1, .forever), (2, .forever),
    ]

    @Test(arguments: kinds) func `share passes its source on`(replay: Int, scope: SubjectLifetimeScope) {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.share(replay: replay, scope: scope) }
    }

    @Test(arguments: kinds)
    func `the source is subscribed to with the first and let go of with the last`(
        replay: Int, scope: SubjectLifetimeScope
    ) {
        let source = scheduler.createHotObservable([
            .next(210, 1), .next(220, 2), .next(230, 3), .next(310, 4), .next(320, 5),
        ])
        let shared = source.share(replay: replay, scope: scope)
        let observers = (0..<3).map { _ in scheduler.createObserver(Int.self) }
        let times = [(200, 225), (225, 240), (300, 315)]
        for (observer, (from, to)) in zip(observers, times) {
            let subscription = SerialDisposable()
            scheduler.scheduleAt(from) { subscription.disposable = shared.subscribe(observer) }
            scheduler.scheduleAt(to + (to == 225 ? 1 : 0)) { subscription.dispose() }
        }
        scheduler.start()

        let kept = [1, 2].suffix(replay).map { Recorded.next(225, $0) }
        let old = scope == .forever ? [2, 3].suffix(replay).map { Recorded.next(300, $0) } : []
        #expect(observers[0].events == [.next(210, 1), .next(220, 2)])
        #expect(observers[1].events == kept + [.next(230, 3)])
        #expect(observers[2].events == old + [.next(310, 4)])
        #expect(source.subscriptions == [Subscription(200, 240), Subscription(300, 315)])
    }

    @Test(arguments: [true, false])
    func `B51 whileConnected starts afresh after the ending, forever repeats it`(fails: Bool) {
        for (scope, expectedCount) in [(SubjectLifetimeScope.whileConnected, 2), (.forever, 1)] {
            let count = Locked(0)
            let source = Observable<Int>.deferred {
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                return Observable.just(number).concat(fails ? .error(Failure()) : .empty())
            }
            let shared = source.share(replay: 1, scope: scope)
            let log = Log<String>()
            for _ in 0..<2 { _ = shared.subscribe { log.add("\($0)") } }
            let ending = fails ? "error(Failure())" : "completed"
            #expect(count.withLock { $0 } == expectedCount)
            #expect(log.all == ["next(1)", ending, "next(\(expectedCount))", ending])
        }
    }

    @Test(arguments: [SubjectLifetimeScope.whileConnected, .forever])
    func `B51 two threads that subscribe at once share one subscription`(scope: SubjectLifetimeScope) {
        for _ in 0..<2_000 {
            let count = Locked(0)
            let subject = PublishSubject<Int>()
            let shared = Observable<Int>.deferred {
                count.withLock { $0 += 1 }
                return subject
            }.share(replay: 2, scope: scope)
            let logs = [Log<Int>(), Log<Int>()]
            let bag = DisposeBag()
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                shared.subscribe(onNext: { logs[index].add($0) }).disposed(by: bag)
            }
            subject.onNext(1)
            subject.onNext(2)
            #expect(count.withLock { $0 } == 1)
            #expect(logs.map(\.all) == [[1, 2], [1, 2]])
        }
    }

    @Test func `an endless source stops where the last subscriber does`() {
        let log = Log<Int>()
        let isOver = Locked(false)
        let endless = Observable<Int>.create { observer in
            for number in 0..<1_000_000 where !isOver.withLock({ $0 }) { observer.onNext(number) }
            return Disposables.create()
        }
        let shared = endless.do(onDispose: { isOver.withLock { $0 = true } }).share()
        _ = shared.take(2).subscribe(onNext: { log.add($0) })
        #expect(log.all == [0, 1])
        #expect(isOver.withLock { $0 })
    }

    @Test func `a subscriber that returns from inside the ending gets a fresh connection`() {
        let count = Locked(0)
        let shared = Observable<Int>.deferred {
            .just(
                count.withLock {
                    $0 += 1
                    return $0
                })
        }.share(replay: 1)
        let log = Log<Int>()
        _ = shared.subscribe(
            onNext: { log.add($0) }, onCompleted: { _ = shared.subscribe(onNext: { log.add($0) }) })
        #expect(log.all == [1, 2])
    }
}
