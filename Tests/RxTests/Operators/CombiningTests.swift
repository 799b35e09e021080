import Dispatch
import Locking
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct CombiningTests {
    let scheduler = TestScheduler()

    @Test func `combineLatest sends whenever one does, once all have, and completes with the last`() {
        let numbers = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .completed(250)])
        let words = scheduler.createHotObservable([.next(220, "a"), .next(240, "b"), .completed(260)])
        let seen = scheduler.start { Observable.combineLatest(numbers, words) { "\($0)\($1)" } }
        #expect(seen.events == [.next(220, "1a"), .next(230, "2a"), .next(240, "2b"), .completed(260)])
        #expect(numbers.subscriptions == [Subscription(200, 250)])
        #expect(words.subscriptions == [Subscription(200, 260)])
    }

    @Test func `combineLatest completes when what is missing can't come any more`() {
        let empty = scheduler.createHotObservable([.completed(210, Int.self)])
        let numbers = scheduler.createHotObservable([.next(220, 1), .next(230, 2)])
        let seen = scheduler.start { Observable.combineLatest(empty, numbers) { $0 + $1 } }
        #expect(seen.events == [.completed(220)])
        #expect(numbers.subscriptions == [Subscription(200, 220)])
    }

    @Test func `combineLatest and zip fail with the first that does, or with what the selector throws`() {
        for kind in [0, 1] {
            let scheduler = TestScheduler()
            let first = scheduler.createHotObservable([.next(210, 1), .error(220, Failure())])
            let second = scheduler.createHotObservable([.next(230, 1)])
            let seen = scheduler.start {
                kind == 0
                    ? Observable.combineLatest(first, second) { $0 + $1 } : Observable.zip(first, second) { $0 + $1 }
            }
            #expect(seen.events == [.error(220, Failure())])
            #expect(second.subscriptions == [Subscription(200, 220)])
        }
        expectThrowing(at: 210) { source, throwing in
            Observable.combineLatest(source, Observable.just(1)) { _, _ in try throwing() }
        }
        expectThrowing(at: 210) { source, throwing in Observable.zip(source.take(9)) { _ in try throwing() } }
    }

    @Test func `combineLatest and zip of many take 2 to 8 and collections`() {
        let one = Observable.just(1)
        let log = Log<Int>()
        let all: [Observable<Int>] = [
            .combineLatest(one, one) { $0 + $1 }, .combineLatest(one, one, one) { $0 + $1 + $2 },
            .combineLatest(one, one, one, one) { $0 + $1 + $2 + $3 },
            .combineLatest(one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 },
            .combineLatest(one, one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 + $5 },
            .combineLatest(one, one, one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 + $5 + $6 },
            .combineLatest(one, one, one, one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 + $5 + $6 + $7 },
            .combineLatest([one, one]) { $0.reduce(0, +) }, .combineLatest([one, one]).map { $0.reduce(0, +) },
            .zip(one, one) { $0 + $1 }, .zip(one, one, one) { $0 + $1 + $2 },
            .zip(one, one, one, one) { $0 + $1 + $2 + $3 }, .zip(one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 },
            .zip(one, one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 + $5 },
            .zip(one, one, one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 + $5 + $6 },
            .zip(one, one, one, one, one, one, one, one) { $0 + $1 + $2 + $3 + $4 + $5 + $6 + $7 },
            .zip([one, one]) { $0.reduce(0, +) }, .zip([one, one]).map { $0.reduce(0, +) },
            Observable.combineLatest(one, one).map { $0 + $1 }, Observable.zip(one, one, one).map { $0 + $1 + $2 },
        ]
        for source in all { _ = source.subscribe(onNext: { log.add($0) }, onCompleted: { log.add(0) }) }
        #expect(
            log.all == [
                2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 2, 0, 2, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 2, 0, 2,
                0, 2, 0, 3, 0,
            ])
    }

    @Test func `combineLatest of nothing has one result, zip of nothing has none`() {
        let none: [Observable<Int>] = []
        #expect(
            scheduler.start { Observable.combineLatest(none) { $0.count } }.events == [.next(200, 0), .completed(200)])
        #expect(TestScheduler().start { Observable.zip(none) { $0.count } }.events == [.completed(200)])
    }

    @Test func `zip pairs by place, and keeps what is ahead`() {
        let numbers = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        let words = scheduler.createHotObservable([.next(225, "a"), .next(250, "b"), .completed(260)])
        let seen = scheduler.start { Observable.zip(numbers, words) { "\($0)\($1)" } }
        #expect(seen.events == [.next(225, "1a"), .next(250, "2b"), .completed(260)])
        #expect(numbers.subscriptions == [Subscription(200, 240)])
        #expect(words.subscriptions == [Subscription(200, 260)])
    }

    @Test func `zip of a collection completes once one is over and another is ahead`() {
        let first = scheduler.createHotObservable([.next(210, 1), .completed(220)])
        let second = scheduler.createHotObservable([.next(215, 1), .next(230, 2), .next(240, 3)])
        let seen = scheduler.start { Observable.zip([first, second]) { $0 } }
        #expect(seen.events == [.next(215, [1, 1]), .completed(230)])
    }

    @Test func `combineLatest of two threads loses nothing and ends on the last pair`() {
        let first = PublishSubject<Int>(), second = PublishSubject<Int>()
        let seen = Unguarded<[Int]>()
        _ = Observable.combineLatest([first, second]).subscribe(onNext: { seen.seen.append($0) })
        first.onNext(0)
        second.onNext(0)
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for number in 1...5_000 { (thread == 0 ? first : second).onNext(number) }
        }
        #expect(seen.seen.count == 10_001)
        #expect(seen.seen.last == [5_000, 5_000])
    }

    @Test func `combineLatest stops when disposed of, and releases`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) {
            .combineLatest($0, Observable.just(0)) { $0 + $1 }
        }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { .zip([$0]) { $0[0] } }
    }

    @Test func `amb takes the first to send, also if it ends, and lets go of the others`() {
        let slow = scheduler.createHotObservable([.next(220, 1), .completed(230)])
        let fast = scheduler.createHotObservable([.next(210, 2), .next(240, 3), .completed(250)])
        let seen = scheduler.start { slow.amb(fast) }
        #expect(seen.events == [.next(210, 2), .next(240, 3), .completed(250)])
        #expect(slow.subscriptions == [Subscription(200, 210)])
        #expect(fast.subscriptions == [Subscription(200, 250)])

        let other = TestScheduler()
        let failing = other.createHotObservable([.error(205, Failure(), Int.self)])
        let third = other.createHotObservable([.next(210, 2)])
        #expect(
            other.start { Observable.amb([third.asObservable(), failing.asObservable()]) }.events == [
                .error(205, Failure())
            ])
        #expect(third.subscriptions == [Subscription(200, 205)])
        #expect(TestScheduler().start { Observable<Int>.amb([]) }.events == [])
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.amb(Observable.never()) }
    }

    @Test func `withLatestFrom adds the latest of the other, and leaves out what comes before it`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .next(250, 3), .completed(260)])
        let other = scheduler.createHotObservable([.next(220, "a"), .next(240, "b"), .completed(245)])
        let seen = scheduler.start { source.withLatestFrom(other) { "\($0)\($1)" } }
        #expect(seen.events == [.next(230, "2a"), .next(250, "3b"), .completed(260)])
        #expect(source.subscriptions == [Subscription(200, 260)])
        #expect(other.subscriptions == [Subscription(200, 245)])
        expectPassingOn([.next(210, 9), .next(220, 9), .next(230, 9)]) { $0.withLatestFrom(Observable.just(9)) }
        expectThrowing(at: 210) { source, throwing in
            source.withLatestFrom(Observable.just(9)) { _, _ in try throwing() }
        }
        let never = TestScheduler().start { Observable.just(1).withLatestFrom(Observable<Int>.error(Failure())) }
        #expect(never.events == [.error(200, Failure())])
    }

    @Test func `sample sends the latest at each beat, and completes with the beat after the source`() {
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(250, 3), .completed(260)])
        let beat = scheduler.createHotObservable([.next(230, ()), .next(240, ()), .next(270, ()), .next(280, ())])
        let seen = scheduler.start { source.sample(beat) }
        #expect(seen.events == [.next(230, 2), .next(270, 3), .completed(270)])
        #expect(source.subscriptions == [Subscription(200, 260)])
        #expect(beat.subscriptions == [Subscription(200, 270)])

        let other = TestScheduler()
        let quiet = other.createHotObservable([.next(210, 1), .next(225, 2)])
        let ending = other.createHotObservable([.next(205, ()), .next(220, ()), .completed(230)])
        let second = other.start { quiet.sample(ending, defaultValue: 0) }
        #expect(second.events == [.next(205, 0), .next(220, 1), .next(230, 2), .completed(230)])
        #expect(quiet.subscriptions == [Subscription(200, 230)])
    }

    @Test func `sample fails with either`() {
        let source = scheduler.createHotObservable([.error(220, Failure(), Int.self)])
        #expect(scheduler.start { source.sample(Observable<Int>.never()) }.events == [.error(220, Failure())])
        let other = TestScheduler()
        let quiet = other.createHotObservable([.next(210, 1)])
        let beat = other.createHotObservable([.error(220, Failure(), Int.self)])
        #expect(other.start { quiet.sample(beat) }.events == [.error(220, Failure())])
        #expect(quiet.subscriptions == [Subscription(200, 220)])
    }

    @Test func `catch goes on with another sequence once the source has been let go of`() {
        struct Second: Error {}
        let source = scheduler.createHotObservable([.next(210, 1), .error(220, Failure())])
        let other = scheduler.createColdObservable([.next(5, 2), .error(10, Second())])
        let seen = scheduler.start { source.catch { _ in other.asObservable() } }
        #expect(seen.events == [.next(210, 1), .next(225, 2), .error(230, Second())])
        #expect(source.subscriptions == [Subscription(200, 220)])
        #expect(other.subscriptions == [Subscription(220, 230)])
        expectFailing([.next(210, 1), .next(220, 2), .next(230, 3), .next(240, 9), .completed(240)]) {
            $0.catchAndReturn(9)
        }
        expectFailing([.next(210, 1), .next(220, 2), .next(230, 3), .error(240, Second())]) { source in
            source.catch { _ in throw Second() }
        }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.catch { throw $0 } }
    }

    @Test func `catch of many goes on to the next where one fails`() {
        let first = scheduler.createColdObservable([.next(5, 1), .error(10, Failure())])
        let second = scheduler.createColdObservable([.next(5, 2), .completed(10)])
        let third = scheduler.createColdObservable([.next(5, 3), .completed(10)])
        let seen = scheduler.start {
            Observable.catch(sequence: [first.asObservable(), second.asObservable(), third.asObservable()])
        }
        #expect(seen.events == [.next(205, 1), .next(215, 2), .completed(220)])
        #expect(third.subscriptions == [])
        let failing = TestScheduler().start { Observable<Int>.catch(sequence: [.error(Failure()), .error(Failure())]) }
        #expect(failing.events == [.error(200, Failure())])
        #expect(TestScheduler().start { Observable<Int>.catch(sequence: []) }.events == [.completed(200)])
    }

    @Test func `retry when of one type of error passes the others on`() {
        struct Other: Error {}
        let attempts = Locked(0)
        let source = Observable<Int>.deferred {
            let attempt = attempts.withLock {
                $0 += 1; return $0
            }
            return .error(attempt < 3 ? Failure() : Other())
        }
        let seen = scheduler.start { source.retry(when: { (errors: Observable<Failure>) in errors }) }
        #expect(seen.events == [.error(200, Other())])
        #expect(attempts.withLock { $0 } == 3)
    }
}
