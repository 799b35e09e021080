import ResourceCounting
import Rx
import RxTest
import Testing

@Suite(.countsResources) struct DoTests {
    @Test func `do passes everything on`() {
        expectPassingOn([.next(210, 1), .next(220, 2), .next(230, 3)]) { $0.do(onNext: { _ in }) }
    }

    private func logged(_ source: Observable<Int>, _ log: Log<String>) -> Observable<Int> {
        source.do(
            onNext: { log.add("next \($0)") }, afterNext: { log.add("after \($0)") },
            onError: { _ in log.add("error") }, afterError: { _ in log.add("after error") },
            onCompleted: { log.add("completed") }, afterCompleted: { log.add("after completed") },
            onSubscribe: { log.add("subscribe") }, onSubscribed: { log.add("subscribed") },
            onDispose: { log.add("dispose") })
    }

    @Test func `each side effect runs at its place, the disposal last`() {
        let subject = PublishSubject<Int>()
        let log = Log<String>()
        _ = logged(subject, log).subscribe { log.add("-> \($0)") }
        subject.onNext(1)
        subject.onCompleted()
        #expect(
            log.all == [
                "subscribe", "subscribed", "next 1", "-> next(1)", "after 1",
                "completed", "-> completed", "dispose", "after completed",
            ])
    }

    @Test func `the disposal runs once for an error, and once for two disposals`() {
        let log = Log<String>()
        _ = logged(.error(Failure()), log).subscribe { log.add("-> \($0)") }
        #expect(
            log.all == ["subscribe", "error", "-> error(Failure())", "after error", "subscribed", "dispose"])

        let second = Log<String>()
        let subscription = logged(.never(), second).subscribe()
        subscription.dispose()
        subscription.dispose()
        #expect(second.all == ["subscribe", "subscribed", "dispose"])
    }

    @Test func `what onError and onCompleted throw takes the ending's place`() {
        struct Other: Error {}
        let log = Log<String>()
        _ = Observable<Int>.error(Failure()).do(onError: { _ in throw Other() }).subscribe { log.add("\($0)") }
        _ = Observable<Int>.empty().do(onCompleted: { throw Other() }).subscribe { log.add("\($0)") }
        #expect(log.all == ["error(Other())", "error(Other())"])
    }

    @Test func `what afterNext throws ends the sequence after the element`() {
        let subject = PublishSubject<Int>()
        let log = Log<String>()
        _ = subject.do(afterNext: { _ in throw Failure() }).subscribe { log.add("\($0)") }
        subject.onNext(1)
        #expect(log.all == ["next(1)", "error(Failure())"])
        #expect(!subject.hasObservers)
    }
}
