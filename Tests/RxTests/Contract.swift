import Rx
import RxTest
import Testing

/// Checks that an operator with one source ends, fails and lets go as its source and its subscriber say.
///
/// The source sends 1, 2, 3 at 210, 220, 230 and its ending at 240; it is subscribed to at 200.
///
/// - Parameters:
///   - sent: What the operator sends until then.
///   - sourceLocation: Where a failure is reported.
///   - apply: The operator.
func expectPassingOn<Result: Equatable & Sendable>(
    _ sent: [Recorded<Event<Result>>], sourceLocation: SourceLocation = #_sourceLocation,
    _ apply: @escaping @Sendable (Observable<Int>) -> Observable<Result>
) {
    func run(
        _ ending: [Recorded<Event<Int>>], disposed: TestTime = 1_000
    ) -> ([Recorded<Event<Result>>], [Subscription]) {
        let scheduler = TestScheduler()
        let source = scheduler.createHotObservable(
            [.next(190, 9), .next(210, 1), .next(220, 2), .next(230, 3)] + ending)
        let seen = scheduler.start(disposed: disposed) { apply(source.asObservable()) }
        return (seen.events, source.subscriptions)
    }

    let completed = run([.completed(240), .next(250, 4)])
    #expect(completed.0 == sent + [.completed(240)], sourceLocation: sourceLocation)
    #expect(completed.1 == [Subscription(200, 240)], sourceLocation: sourceLocation)

    let failed = run([.error(240, Failure()), .next(250, 4)])
    #expect(failed.0 == sent + [.error(240, Failure())], sourceLocation: sourceLocation)
    #expect(failed.1 == [Subscription(200, 240)], sourceLocation: sourceLocation)

    let disposed = run([.completed(240)], disposed: 225)
    #expect(disposed.0 == sent.filter { $0.time < 225 }, sourceLocation: sourceLocation)
    #expect(disposed.1 == [Subscription(200, 225)], sourceLocation: sourceLocation)

    let endless = run([])
    #expect(endless.0 == sent, sourceLocation: sourceLocation)
    #expect(endless.1 == [Subscription(200, 1_000)], sourceLocation: sourceLocation)

    expectRelease(sourceLocation: sourceLocation, apply)
}

/// Checks what an operator sends of 1, 2, 3 at 210, 220, 230 and the completion at 240, when it lets go of the source, and
/// that it stops when it is disposed of.
func expectEnding<Result: Equatable & Sendable>(
    _ sent: [Recorded<Event<Result>>], at end: TestTime, sourceLocation: SourceLocation = #_sourceLocation,
    _ apply: @escaping @Sendable (Observable<Int>) -> Observable<Result>
) {
    let scheduler = TestScheduler()
    let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
    let seen = scheduler.start { apply(source.asObservable()) }
    #expect(seen.events == sent, sourceLocation: sourceLocation)
    #expect(source.subscriptions == [Subscription(200, end)], sourceLocation: sourceLocation)

    let second = TestScheduler()
    let cut = second.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
    let early = second.start(disposed: 205) { apply(cut.asObservable()) }
    #expect(early.events == sent.filter { $0.time < 205 }, sourceLocation: sourceLocation)
    #expect(cut.subscriptions == [Subscription(200, 205)], sourceLocation: sourceLocation)
    expectRelease(sourceLocation: sourceLocation, apply)
}

/// Checks what an operator sends of 1, 2, 3 at 210, 220, 230 and an error at 240.
func expectFailing<Result: Equatable & Sendable>(
    _ sent: [Recorded<Event<Result>>], sourceLocation: SourceLocation = #_sourceLocation,
    _ apply: @escaping @Sendable (Observable<Int>) -> Observable<Result>
) {
    let scheduler = TestScheduler()
    let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .error(240, Failure())])
    let seen = scheduler.start { apply(source.asObservable()) }
    #expect(seen.events == sent, sourceLocation: sourceLocation)
    #expect(source.subscriptions == [Subscription(200, 240)], sourceLocation: sourceLocation)
}

/// Checks that what an operator's closure throws ends the sequence and lets go of the source.
func expectThrowing<Result: Equatable & Sendable>(
    at time: TestTime, sourceLocation: SourceLocation = #_sourceLocation,
    _ apply: @escaping @Sendable (Observable<Int>, @escaping @Sendable () throws -> Bool) -> Observable<Result>
) {
    let scheduler = TestScheduler()
    let source = scheduler.createHotObservable([.next(210, 1), .next(220, 2), .next(230, 3), .completed(240)])
    let seen = scheduler.start { apply(source.asObservable()) { throw Failure() } }
    #expect(seen.events == [.error(time, Failure())], sourceLocation: sourceLocation)
    #expect(source.subscriptions == [Subscription(200, time)], sourceLocation: sourceLocation)
}

/// Checks that nothing keeps what an operator's observer holds, after disposal and after each ending.
func expectRelease<Result: Sendable>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ apply: @escaping @Sendable (Observable<Int>) -> Observable<Result>
) {
    let endings: [@Sendable (PublishSubject<Int>, any Disposable) -> Void] = [
        { subject, _ in subject.onCompleted() }, { subject, _ in subject.onError(Failure()) },
        { _, subscription in subscription.dispose() },
    ]
    for end in endings {
        let subject = PublishSubject<Int>()
        let result = apply(subject.asObservable())
        weak var observed: Canary?
        do {
            let canary = Canary()
            observed = canary
            let subscription = result.subscribe { _ in withExtendedLifetime(canary) {} }
            subject.onNext(1)
            end(subject, subscription)
        }
        #expect(observed == nil, sourceLocation: sourceLocation)
        #expect(!subject.hasObservers, sourceLocation: sourceLocation)
    }
}

final class Canary: Sendable {}
