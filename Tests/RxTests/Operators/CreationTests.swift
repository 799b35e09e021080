import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct CreationTests {
    let scheduler = TestScheduler()

    @Test func `just, empty and error send what they are named after, inside subscribe`() {
        #expect(scheduler.start { Observable.just(1) }.events == [.next(200, 1), .completed(200)])
        #expect(TestScheduler().start { Observable<Int>.empty() }.events == [.completed(200)])
        #expect(TestScheduler().start { Observable<Int>.error(Failure()) }.events == [.error(200, Failure())])
    }

    @Test func `never sends nothing`() {
        #expect(scheduler.start { Observable<Int>.never() }.events == [])
    }

    @Test func `of and from send their elements, each subscription anew`() {
        let sources: [Observable<Int>] = [
            .of(1, 2, 3), .from([1, 2, 3]), .from(1...3), .from(Set([1])).concat(.of(2, 3)),
        ]
        for source in sources + sources {
            let log = Log<String>()
            _ = source.subscribe { log.add("\($0)") }
            #expect(log.all == ["next(1)", "next(2)", "next(3)", "completed"])
        }
    }

    @Test func `from an optional sends it, or just completes`() {
        let log = Log<String>()
        _ = Observable.from(optional: 1 as Int?).subscribe { log.add("\($0)") }
        _ = Observable.from(optional: nil as Int?).subscribe { log.add("\($0)") }
        #expect(log.all == ["next(1)", "completed", "completed"])
    }

    @Test func `from on a scheduler takes a turn for each element and one for the completion`() {
        let seen = scheduler.start { [scheduler] in Observable.of(1, 2, scheduler: scheduler) }
        #expect(seen.events == [.next(201, 1), .next(202, 2), .completed(203)])
    }

    @Test func `from on a scheduler stops when disposed of`() {
        let seen = scheduler.start(disposed: 203) { [scheduler] in Observable.from(1...9, scheduler: scheduler) }
        #expect(seen.events == [.next(201, 1), .next(202, 2)])
    }

    @Test func `an endless sequence stops where its subscriber does`() {
        let log = Log<Int>()
        let endless = Observable.from(Numbers())
        #expect(finishes { _ = endless.take(3).subscribe(onNext: { log.add($0) }) })
        #expect(log.all == [1, 2, 3])
    }

    @Test func `deferred makes a sequence for each subscriber`() {
        let count = Locked(0)
        let source = Observable<Int>.deferred {
            .just(
                count.withLock {
                    $0 += 1
                    return $0
                })
        }
        let log = Log<Int>()
        for _ in 0..<2 { _ = source.subscribe(onNext: { log.add($0) }) }
        #expect(log.all == [1, 2])
    }

    @Test func `deferred passes its sequence on, and fails with what its factory throws`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { source in .deferred { source } }
        #expect(
            scheduler.start { Observable<Int>.deferred { throw Failure() } }.events == [.error(200, Failure())])
    }

    @Test func `create calls its closure for each subscriber, and disposes once, at the ending`() {
        let log = Log<String>()
        let source = Observable<Int>.create { [scheduler] observer in
            log.add("subscribe")
            observer.onNext(1)
            scheduler.scheduleAt(300) {
                observer.onNext(2)
                observer.onCompleted()
                observer.onNext(3)
                observer.onError(Failure())
            }
            return Disposables.create { log.add("dispose") }
        }
        let seen = scheduler.start { source }
        #expect(seen.events == [.next(200, 1), .next(300, 2), .completed(300)])
        #expect(log.all == ["subscribe", "dispose"])
    }

    @Test func `create that ends inside its closure disposes of what the closure returns`() {
        let log = Log<String>()
        _ = Observable<Int>.create { observer in
            observer.onCompleted()
            return Disposables.create { log.add("dispose") }
        }.subscribe { log.add("\($0)") }
        #expect(log.all == ["completed", "dispose"])
    }

    @Test func `using opens, passes on, and closes once, after the source`() {
        let log = Log<String>()
        let opened: @Sendable () -> any Cancelable = {
            log.add("open")
            return Disposables.create { log.add("close") }
        }
        let subject = PublishSubject<Int>()
        let source = Observable<Int>.using({ Resource(opened()) }) { _ in
            subject.do(onDispose: { log.add("source") })
        }
        let subscription = source.subscribe { log.add("\($0)") }
        subject.onNext(1)
        subscription.dispose()
        subscription.dispose()
        #expect(log.all == ["open", "next(1)", "source", "close"])
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { source in
            .using({ Resource(Disposables.create()) }) { _ in source }
        }
    }

    @Test func `using fails with what its resource factory throws`() {
        let seen = scheduler.start {
            Observable<Int>.using({ () throws -> Resource in throw Failure() }) { _ in .never() }
        }
        #expect(seen.events == [.error(200, Failure())])
    }
}

/// Something to be closed.
struct Resource: Disposable {
    private let inner: any Disposable
    init(_ inner: any Disposable) { self.inner = inner }
    func dispose() { inner.dispose() }
}

/// 1, 2, 3 and so on without end.
private struct Numbers: Sequence, Sendable {
    func makeIterator() -> AnyIterator<Int> {
        var last = 0
        return AnyIterator {
            last += 1
            return last
        }
    }
}
