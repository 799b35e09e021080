import Foundation
import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct TransformingTests {
    @Test func `enumerated numbers the elements`() {
        expectPassingOn([.next(210, "0:1"), .next(220, "1:2"), .next(230, "2:3")]) {
            $0.enumerated().map { "\($0.index):\($0.element)" }
        }
    }

    @Test func `reduce sends the result at the completion`() {
        expectEnding([.next(240, 16), .completed(240)], at: 240) { $0.reduce(10) { $0 + $1 } }
        expectEnding([.next(240, "16"), .completed(240)], at: 240) {
            $0.reduce(10, accumulator: { $0 + $1 }, mapResult: { "\($0)" })
        }
        expectFailing([.error(240, Failure())]) { $0.reduce(10) { $0 + $1 } }
        expectThrowing(at: 210) { source, throwing in source.reduce(0) { _, _ in try throwing() ? 1 : 0 } }
        expectThrowing(at: 240) { source, throwing in
            source.reduce(0, accumulator: { $0 + $1 }, mapResult: { _ in try throwing() })
        }
        expectEnding([.next(240, 16), .completed(240)], at: 240) { $0.reduce(10) { $0 + $1 }.take(1) }
    }

    @Test func `toArray gathers all elements`() {
        expectEnding([.next(240, [1, 2, 3]), .completed(240)], at: 240) { $0.toArray().asObservable() }
        expectFailing([.error(240, Failure())]) { $0.toArray().asObservable() }
    }

    @Test func `materialize turns events into elements, dematerialize turns them back`() {
        expectEnding(
            [
                .next(210, .next(1)), .next(220, .next(2)), .next(230, .next(3)), .next(240, .completed),
                .completed(240),
            ],
            at: 240
        ) { $0.materialize() }
        expectFailing([
            .next(210, .next(1)), .next(220, .next(2)), .next(230, .next(3)), .next(240, .error(Failure())),
            .completed(240),
        ]) { $0.materialize() }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.materialize().dematerialize() }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.map { Event.next($0) }.dematerialize() }
    }

    @Test func `ifEmpty sends the default, or goes on with the other, only if nothing came`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.ifEmpty(default: 9) }
        expectEnding([.next(240, 9), .completed(240)], at: 240) { $0.skip(3).ifEmpty(default: 9) }
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable([.completed(240, Int.self)])
        let other = scheduler.createColdObservable([.next(5, 7), .completed(10)])
        let seen = scheduler.start { source.ifEmpty(switchTo: other.asObservable()) }
        #expect(seen.events == [.next(245, 7), .completed(250)])
        #expect(source.subscriptions == [Subscription(200, 240)])
        #expect(other.subscriptions == [Subscription(240, 250)])
    }

    @Test func `decode makes values of data, and fails with what doesn't fit`() {
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable([
            .next(210, Data("[1,2]".utf8)), .next(220, Data("x".utf8)), .next(230, Data("[3]".utf8)),
        ])
        let seen = scheduler.start { source.decode(type: [Int].self, decoder: JSONDecoder()) }
        #expect(seen.events.first == .next(210, [1, 2]))
        #expect(seen.events.map(\.time) == [210, 220])
        #expect(seen.events.last?.value.error is DecodingError)
        #expect(source.subscriptions == [Subscription(200, 220)])
    }

    @Test func `withUnretained completes once the object has gone`() {
        let subject = PublishSubject<Int>()
        let log = Log<String>()
        var object: Canary? = Canary()
        if let object {
            _ = subject.withUnretained(object).map { $1 }.subscribe { log.add("\($0)") }
            _ = subject.withUnretained(object) { _, element in
                if element == 2 { throw Failure() }
                return element
            }.subscribe { log.add("\($0)") }
        }
        subject.onNext(1)
        subject.onNext(2)
        object = nil
        subject.onNext(3)
        #expect(log.all == ["next(1)", "next(1)", "next(2)", "error(Failure())", "completed"])
        #expect(!subject.hasObservers)
        let owner = Canary()
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.withUnretained(owner).map { $1 } }
    }

    @Test func `debug passes on`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.debug("numbers") }
        expectPassingOn([.next(210, String(repeating: "x", count: 60))].map { $0 }) { source in
            source.take(while: { _ in true }).filter { $0 == 1 }.map { _ in String(repeating: "x", count: 60) }
                .debug(trimOutput: true)
        }
    }

    @Test func `flatMapFirst leaves out elements while an inner sequence runs`() {
        let scheduler = TestScheduler()
        let inner = scheduler.createColdObservable([.next(5, "a"), .completed(15)])
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        let seen = scheduler.start { source.flatMapFirst { _ in inner } }
        #expect(seen.events == [.next(215, "a"), .next(235, "a"), .completed(245)])
        #expect(inner.subscriptions == [Subscription(210, 225), Subscription(230, 245)])
        expectThrowing(at: 210) { source, throwing in source.flatMapFirst { _ in Observable.just(try throwing()) } }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.flatMapFirst { Observable.just($0) } }
    }

    @Test func `concatMap subscribes to one inner sequence after the other`() {
        let scheduler = TestScheduler()
        let inner = scheduler.createColdObservable([.next(5, "a"), .completed(15)])
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
        let seen = scheduler.start { source.concatMap { _ in inner } }
        #expect(seen.events == [.next(215, "a"), .next(230, "a"), .next(245, "a"), .completed(255)])
        #expect(inner.subscriptions == [Subscription(210, 225), Subscription(225, 240), Subscription(240, 255)])
        expectThrowing(at: 210) { source, throwing in source.concatMap { _ in Observable.just(try throwing()) } }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.concatMap { Observable.just($0) } }
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.concatMap { Observable.of($0) } }
    }

    @Test func `merge with a limit lets the others wait, and fails with the first that does`() {
        let scheduler = TestScheduler()
        let inner = scheduler.createColdObservable([.next(5, "a"), .completed(25)])
        let failing = scheduler.createColdObservable([.error(10, Failure(), String.self)])
        let source = scheduler.createHotObservable([
            .next(210, inner.asObservable()), .next(212, inner.asObservable()), .next(214, failing.asObservable()),
        ])
        let seen = scheduler.start { source.merge(maxConcurrent: 2) }
        #expect(seen.events == [.next(215, "a"), .next(217, "a"), .error(245, Failure())])
        #expect(inner.subscriptions == [Subscription(210, 235), Subscription(212, 237)])
        #expect(failing.subscriptions == [Subscription(235, 245)])
    }

    @Test func `concat of nested sequences doesn't use up the stack`() {
        let log = Log<Int>()
        let sources = (0..<50_000).map { Observable.of($0) }
        #expect(
            finishes {
                _ = Observable.from(sources).concat().reduce(0) { total, _ in total + 1 }.subscribe(onNext: {
                    log.add($0)
                })
            })
        #expect(log.all == [50_000])
    }
}
