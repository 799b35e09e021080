import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct ConnectableTests {
    let scheduler = TestScheduler()

    @Test func `publish sends to all while it is connected`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        let published = source.publish()
        let first = scheduler.createObserver(Int.self), second = scheduler.createObserver(Int.self)
        let connection = SerialDisposable()
        scheduler.scheduleAt(200) { _ = published.subscribe(first) }
        scheduler.scheduleAt(205) { connection.disposable = published.connect() }
        scheduler.scheduleAt(215) { _ = published.subscribe(second) }
        scheduler.scheduleAt(225) { connection.dispose() }
        scheduler.start()
        #expect(first.events == [.next(210, 1), .next(220, 2)])
        #expect(second.events == [.next(220, 2)])
        #expect(source.subscriptions == [Subscription(205, 225)])
    }

    @Test func `a second connection changes nothing, and either ends it`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2)])
        let published = source.publish()
        let seen = Locked<[any Disposable]>([])
        scheduler.scheduleAt(200) { seen.withLock { $0 = [published.connect(), published.connect()] } }
        scheduler.scheduleAt(215) { seen.withLock { $0[1] }.dispose() }
        scheduler.start()
        #expect(source.subscriptions == [Subscription(200, 215)])
    }

    @Test func `after the ending, connecting starts anew`() {
        let source = scheduler.createColdObservable([.next(10, 1), .completed(20)])
        let published = source.publish()
        let first = scheduler.createObserver(Int.self), second = scheduler.createObserver(Int.self)
        scheduler.scheduleAt(200) {
            _ = published.subscribe(first)
            _ = published.connect()
        }
        scheduler.scheduleAt(300) {
            _ = published.subscribe(second)
            _ = published.connect()
        }
        scheduler.start()
        #expect(first.events == [.next(210, 1), .completed(220)])
        #expect(second.events == [.next(310, 1), .completed(320)])
        #expect(source.subscriptions == [Subscription(200, 220), Subscription(300, 320)])
    }

    @Test func `replay gives later subscribers the latest, replayAll all`() {
        let source = Observable.of(1, 2, 3)
        let log = Log<Int>()
        let two = source.replay(2), all = source.replayAll()
        _ = two.subscribe(onNext: { log.add($0) })
        _ = two.connect()
        _ = all.subscribe(onNext: { log.add($0) })
        _ = all.connect()
        #expect(log.all == [1, 2, 3, 1, 2, 3])

        let live = PublishSubject<Int>()
        let replayed = live.replay(2), everything = live.replayAll()
        let connections = [replayed.connect(), everything.connect()]
        for number in 1...3 { live.onNext(number) }
        let late = Log<Int>()
        _ = replayed.subscribe(onNext: { late.add($0) })
        _ = everything.subscribe(onNext: { late.add($0) })
        #expect(late.all == [2, 3, 1, 2, 3])
        for connection in connections { connection.dispose() }
        #expect(!live.hasObservers)
    }

    @Test func `refCount connects with the first and lets go with the last`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(260, 3)])
        let shared = source.publish().refCount()
        let first = SerialDisposable(), second = SerialDisposable(), third = SerialDisposable()
        defer { third.dispose() }
        let seen = scheduler.createObserver(Int.self)
        scheduler.scheduleAt(205) { first.disposable = shared.subscribe(seen) }
        scheduler.scheduleAt(215) { second.disposable = shared.subscribe() }
        scheduler.scheduleAt(225) { first.dispose() }
        scheduler.scheduleAt(230) { second.dispose() }
        scheduler.scheduleAt(250) {
            first.dispose(); second.dispose(); third.disposable = shared.subscribe(seen)
        }
        scheduler.start()
        #expect(seen.events == [.next(210, 1), .next(220, 2), .next(260, 3)])
        #expect(source.subscriptions == [Subscription(205, 230), Subscription(250)])
    }

    @Test func `refCount connects anew after the ending`() {
        let source = scheduler.createColdObservable([.next(10, 1), .completed(20)])
        let shared = source.publish().refCount()
        let seen = scheduler.createObserver(Int.self)
        for time in [200, 205, 300] { scheduler.scheduleAt(time) { _ = shared.subscribe(seen) } }
        scheduler.start()
        #expect(source.subscriptions == [Subscription(200, 220), Subscription(300, 320)])
        #expect(seen.events.count == 6)
    }

    @Test func `refCount of a synchronous source ends with it`() {
        let log = Log<String>()
        let shared = Observable.of(1, 2).publish().refCount()
        for _ in 0..<2 { _ = shared.subscribe { log.add("\($0)") } }
        #expect(log.all == ["next(1)", "next(2)", "completed", "next(1)", "next(2)", "completed"])
    }

    @Test func `multicast with a selector subscribes to the source once for each subscription`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .completed(230)])
        let seen = scheduler.start {
            source.multicast({ PublishSubject<Int>() }) { Observable.zip($0, $0.skip(1)) { $0 * 10 + $1 } }
        }
        #expect(seen.events == [.next(220, 12), .completed(230)])
        #expect(source.subscriptions == [Subscription(200, 230)])
        let failing = TestScheduler().start {
            Observable.just(1).multicast({ () throws -> PublishSubject<Int> in throw Failure() }) { $0 }
        }
        #expect(failing.events == [.error(200, Failure())])
        let second = TestScheduler().start {
            Observable.just(1).multicast({ PublishSubject<Int>() }) { _ -> Observable<Int> in throw Failure() }
        }
        #expect(second.events == [.error(200, Failure())])
    }

    @Test func `multicast through one subject ends it for good`() {
        let log = Log<String>()
        let subject = ReplaySubject<Int>.create(bufferSize: 1)
        let connectable = Observable.of(1, 2).multicast(subject)
        _ = connectable.connect()
        _ = connectable.subscribe { log.add("\($0)") }
        #expect(log.all == ["next(2)", "completed"])
    }

    @Test func `two threads that connect at once make one connection`() {
        for _ in 0..<500 {
            let count = Locked(0)
            let shared = Observable<Int>.create { _ in
                count.withLock { $0 += 1 }
                return Disposables.create()
            }.publish().refCount()
            let bag = DisposeBag()
            DispatchQueue.concurrentPerform(iterations: 2) { _ in shared.subscribe().disposed(by: bag) }
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func `a subscriber that comes from inside the ending, before refCount has seen it, gets a fresh connection`()
    {
        let source = scheduler.createColdObservable([.next(10, 1), .completed(20)])
        let published = source.publish()
        let counted = published.refCount()
        let late = scheduler.createObserver(Int.self)
        scheduler.scheduleAt(200) {
            _ = published.subscribe(onCompleted: { _ = counted.subscribe(late) })
            _ = counted.subscribe()
        }
        scheduler.start()
        #expect(late.events == [.next(230, 1), .completed(240)])
        #expect(source.subscriptions == [Subscription(200, 220), Subscription(220, 240)])
    }

    @Test(arguments: [0, 2]) func `threads that come and go leave nobody without the source`(replay: Int) {
        for _ in 0..<2_000 {
            let source = PublishSubject<Int>()
            let shared = replay == 0 ? source.publish().refCount() : source.replay(replay).refCount()
            let seen = Locked(0)
            let kept = SerialDisposable()
            DispatchQueue.concurrentPerform(iterations: 3) { index in
                if index == 0 {
                    kept.disposable = shared.subscribe(onNext: { _ in seen.withLock { $0 += 1 } })
                } else {
                    for _ in 0..<3 { shared.subscribe().dispose() }
                }
            }
            source.onNext(1)
            #expect(seen.withLock { $0 } == 1)
            kept.dispose()
            #expect(!source.hasObservers)
        }
    }

    @Test func `who subscribes while the source ends gets an ending too`() {
        for _ in 0..<2_000 {
            let source = PublishSubject<Int>()
            let shared = source.replay(1).refCount()
            let endings = Locked(0)
            _ = shared.subscribe(onCompleted: { endings.withLock { $0 += 1 } })
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { return source.onCompleted() }
                _ = shared.subscribe(onCompleted: { endings.withLock { $0 += 1 } })
            }
            #expect(endings.withLock { $0 } == 2)
        }
    }

    /// A connectable sequence that Rx did not make.
    private struct Foreign: ConnectableObservableType {
        typealias Element = Int

        let source: ConnectableObservable<Int>
        let connecting: @Sendable () -> Void

        func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
        where Observer.Element == Int { source.subscribe(observer) }

        func connect() -> any Disposable {
            connecting()
            return source.connect()
        }
    }

    @Test func `refCount counts the subscribers of any connectable sequence`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(260, 3), .completed(270)])
        let shared = Foreign(source: source.publish()) {}.refCount()
        let first = SerialDisposable(), second = SerialDisposable(), last = SerialDisposable()
        let seen = scheduler.createObserver(Int.self)
        scheduler.scheduleAt(205) { first.disposable = shared.subscribe(seen) }
        scheduler.scheduleAt(215) { second.disposable = shared.subscribe() }
        scheduler.scheduleAt(225) { first.dispose() }
        scheduler.scheduleAt(230) { second.dispose() }
        scheduler.scheduleAt(250) { _ = shared.subscribe(seen) }
        scheduler.scheduleAt(280) { last.disposable = shared.subscribe(seen) }
        scheduler.start()
        #expect(seen.events == [.next(210, 1), .next(220, 2), .next(260, 3), .completed(270)])
        #expect(source.subscriptions == [Subscription(205, 230), Subscription(250, 270), Subscription(280)])
        last.dispose()
    }

    @Test(arguments: [false, true])
    func `a subscriber that leaves while it is being connected lets go, unless another has come`(another: Bool) {
        let source = PublishSubject<Int>(), start = PublishSubject<Int>()
        let leaving = SerialDisposable(), staying = SerialDisposable()
        let log = Log<Int>()
        let shared = Locked<Observable<Int>>(.never())
        let foreign = Foreign(source: source.publish()) {
            leaving.dispose()
            if !another { return }
            let present = shared.withLock { $0 }
            staying.disposable = present.subscribe(onNext: { log.add($0) })
        }
        shared.withLock { $0 = foreign.refCount() }

        leaving.disposable = start.flatMap { _ in shared.withLock { $0 } }.subscribe(onNext: { log.add(10 * $0) })
        start.onNext(0)
        #expect(source.hasObservers == another)
        source.onNext(1)
        #expect(log.all == (another ? [1] : []))
        staying.dispose()
        #expect(!source.hasObservers)
        let last = shared.withLock { present in  // it holds itself through the closure above
            defer { present = .never() }
            return present
        }
        withExtendedLifetime(last) {}
    }
}
