import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct FilteringTests {
    private let all: [Recorded<Event<Int>>] = [.next(210, 1), .next(220, 2), .next(230, 3)]

    @Test func `skip leaves out the first elements`() {
        expectPassingOn([.next(230, 3)]) { $0.skip(2) }
        expectPassingOn(all) { $0.skip(0) }
        expectPassingOn(all) { $0.skip(-1) }
    }

    @Test func `skip while leaves out elements until one doesn't fit, and asks no more`() {
        expectPassingOn([.next(220, 2), .next(230, 3)]) { $0.skip(while: { $0 % 2 == 1 }) }
        expectPassingOn(all) { $0.skip(while: { _ in false }) }
        expectThrowing(at: 210) { source, throwing in source.skip(while: { _ in try throwing() }) }
    }

    @Test func `take while ends at the first element that doesn't fit, and may send it`() {
        expectEnding([.next(210, 1), .completed(220)], at: 220) { $0.take(while: { $0 < 2 }) }
        expectEnding([.next(210, 1), .next(220, 2), .completed(220)], at: 220) {
            $0.take(while: { $0 < 2 }, behavior: .inclusive)
        }
        expectPassingOn(all) { $0.take(while: { _ in true }) }
        expectThrowing(at: 210) { source, throwing in source.take(while: { _ in try throwing() }) }
    }

    @Test func `take until ends at the first element that fits, and may send it`() {
        expectEnding([.next(210, 1), .completed(220)], at: 220) { $0.take(until: { $0 == 2 }) }
        expectEnding([.next(210, 1), .next(220, 2), .completed(220)], at: 220) {
            $0.take(until: { $0 == 2 }, behavior: .inclusive)
        }
        expectPassingOn(all) { $0.take(until: { _ in false }) }
    }

    @Test func `take last sends the last elements at the completion, and nothing before an error`() {
        expectEnding([.next(240, 2), .next(240, 3), .completed(240)], at: 240) { $0.takeLast(2) }
        expectEnding([.next(240, 1), .next(240, 2), .next(240, 3), .completed(240)], at: 240) { $0.takeLast(9) }
        expectEnding([.completed(240)], at: 240) { $0.takeLast(0) }
        expectFailing([.error(240, Failure())]) { $0.takeLast(2) }
        expectEnding([.next(240, 1), .completed(240)], at: 240) { $0.takeLast(9).take(1) }
    }

    @Test func `element at sends one element, or fails for want of it`() {
        expectEnding([.next(220, 2), .completed(220)], at: 220) { $0.element(at: 1) }
        expectEnding([.error(240, RxError.argumentOutOfRange)], at: 240) { $0.element(at: 3) }
        expectFailing([.error(240, Failure())]) { $0.element(at: 3) }
    }

    @Test func `first takes the first element, or nil`() {
        expectEnding([.next(210, 1), .completed(210)], at: 210) { $0.first().asObservable() }
        expectEnding([.next(240, nil), .completed(240)], at: 240) { $0.skip(9).first().asObservable() }
        expectFailing([.error(240, Failure())]) { $0.skip(9).first().asObservable() }
    }

    @Test func `single wants exactly one element`() {
        expectEnding([.next(210, 1), .error(220, RxError.moreThanOneElement)], at: 220) { $0.single() }
        expectEnding([.next(220, 2), .completed(240)], at: 240) { $0.single { $0 == 2 } }
        expectEnding([.error(240, RxError.noElements)], at: 240) { $0.single { $0 == 9 } }
        expectFailing([.next(220, 2), .error(240, Failure())]) { $0.single { $0 == 2 } }
        expectThrowing(at: 210) { source, throwing in source.single { _ in try throwing() } }
    }

    @Test func `asSingle and asMaybe want one element, and wait for the completion`() {
        expectEnding([.error(220, RxError.moreThanOneElement)], at: 220) { $0.asSingle().asObservable() }
        expectEnding([.next(240, 2), .completed(240)], at: 240) { $0.filter { $0 == 2 }.asSingle().asObservable() }
        expectEnding([.error(240, RxError.noElements)], at: 240) { $0.skip(3).asSingle().asObservable() }
        expectEnding([.completed(240)], at: 240) { $0.skip(3).asMaybe().asObservable() }
        expectEnding([.next(240, 2), .completed(240)], at: 240) { $0.filter { $0 == 2 }.asMaybe().asObservable() }
        expectFailing([.error(240, Failure())]) {
            $0.take(while: { $0 < 9 }).filter { $0 == 1 }.asMaybe().asObservable()
        }
    }

    @Test func `ignoreElements sends only the ending`() {
        let scheduler = TestScheduler()
        let completing = scheduler.createHotObservable([.next(210, 1), .completed(240)])
        #expect(scheduler.start { completing.ignoreElements() }.events.map(\.time) == [240])
        expectRelease { $0.ignoreElements() }
        let other = TestScheduler()
        let failing = other.createHotObservable([.next(210, 1), .error(240, Failure())])
        let seen = other.start { failing.ignoreElements() }.events
        #expect(seen.map(\.time) == [240] && seen.first?.value.error is Failure)
    }

    @Test func `skip until lets elements through once the other sends one`() {
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .completed(240)])
        let other = scheduler.createHotObservable([.next(220, "go"), .next(235, "on")])
        let seen = scheduler.start { source.skip(until: other) }
        #expect(seen.events == [.next(230, 2), .completed(240)])
        #expect(source.subscriptions == [Subscription(200, 240)])
        #expect(other.subscriptions == [Subscription(200, 220)])
    }

    @Test func `skip until fails with either, and lets go of both silently when the source completes too early`() {
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable([.next(210, 1), .completed(240)])
        let failing = scheduler.createHotObservable([.error(220, Failure(), String.self)])
        #expect(scheduler.start { source.skip(until: failing) }.events == [.error(220, Failure())])
        #expect(source.subscriptions == [Subscription(200, 220)])

        let second = TestScheduler()
        let early = second.createHotObservable([.next(210, 1), .completed(240)])
        let never = second.createHotObservable([.next(300, "go")])
        #expect(second.start { early.skip(until: never) }.events == [])
        #expect(never.subscriptions == [Subscription(200, 240)])

        let third = TestScheduler()
        let bad = third.createHotObservable([.next(210, 1), .error(240, Failure())])
        let quiet = third.createHotObservable([.completed(215, String.self)])
        #expect(third.start { bad.skip(until: quiet) }.events == [.error(240, Failure())])
    }

    @Test func `distinctUntilChanged by its forms leaves out repetitions`() {
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable([.next(210, 1), .next(220, 11), .next(230, 12), .next(240, 21)])
        let seen = scheduler.start { source.distinctUntilChanged { $0 / 10 } }
        #expect(seen.events == [.next(210, 1), .next(220, 11), .next(240, 21)])
        expectThrowing(at: 210) { source, throwing in source.distinctUntilChanged { _ in try throwing() } }
    }
}
