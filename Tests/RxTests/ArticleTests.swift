import Dispatch
import ResourceCounting
import Rx
import RxTest
import Testing

/// Examples of the articles that the product solves in another way (docs/articles.md).
@Suite(.countsResources) struct ArticleTests {
    private enum TransferError: Error { case receiving(String), copying(String) }

    private let scheduler = TestScheduler()

    @Test func `a transfer that fails doesn't end the stream of all: how it ended is one of three chains`() {
        let starts = scheduler.createHotObservable([
            .next(210, "plan"), .next(220, "cat"), .next(230, "map"), .next(240, "dog"),
        ])
        let failures: [String: TransferError] = ["plan": .receiving("plan"), "map": .copying("map")]
        let ends = starts.flatMap { [scheduler] name in
            Observable<Int>.timer(.seconds(15), scheduler: scheduler)
                .map { _ in
                    if let failure = failures[name] { throw failure }
                    return "\(name).png"
                }
                .materialize()
        }
        .share()
        let receiveFailed = scheduler.createObserver(String.self)
        let copyFailed = scheduler.createObserver(String.self)
        let errors = ends.compactMap { $0.error as? TransferError }

        let others = CompositeDisposable()
        let received = scheduler.start {
            let receiving = errors.compactMap { if case .receiving(let name) = $0 { name } else { nil } }
            let copying = errors.compactMap { if case .copying(let name) = $0 { name } else { nil } }
            for other in [receiving.subscribe(receiveFailed), copying.subscribe(copyFailed)] {
                _ = others.insert(other)
            }
            return ends.compactMap(\.element)
        }
        others.dispose()

        #expect(received.events == [.next(235, "cat.png"), .next(255, "dog.png")])
        #expect(receiveFailed.events == [.next(225, "plan")])
        #expect(copyFailed.events == [.next(245, "map")])
        #expect(starts.subscriptions.count == 1)
    }

    @Test func `a send button that is hit twice sends once: its taps are throttled, the text is that of the tap`() {
        let text = scheduler.createHotObservable([.next(205, "hel"), .next(208, "hello"), .next(230, "again")])
        let taps = scheduler.createHotObservable([210, 211, 213, 240].map { .next($0, ()) })

        let sent = scheduler.start { [scheduler] in
            taps.throttle(.seconds(10), latest: false, scheduler: scheduler).withLatestFrom(text)
        }

        #expect(sent.events == [.next(210, "hello"), .next(240, "again")])
    }
}
