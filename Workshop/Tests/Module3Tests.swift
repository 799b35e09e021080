import Course
import Dispatch
import ResourceCounting
import Rx
import RxTest
import Testing

/// Notes what it is told and closes once.
private final class Line: Connection {
    let heard = BehaviorRelay<[String]>(value: [])
    let closings = BehaviorRelay(value: 0)
    let subject = PublishSubject<String>()

    func send(_ text: String) { heard.accept(heard.value + [text]) }
    var answers: Observable<String> { subject }
    func close() { closings.accept(closings.value + 1) }
}

@Suite(.countsResources) struct Module3Tests {
    private let scheduler = TestScheduler()

    private func answer<Answer: Sendable>(_ answer: Answer, after delay: Int) -> Observable<Answer> {
        Observable<Int>.timer(.seconds(delay), scheduler: scheduler).map { _ in answer }
    }

    @Test func `3.1 two requests run side by side`() {
        let seen = scheduler.start { [self] in profile(name: answer("Ada", after: 20), posts: answer(3, after: 30)) }
        let failed = TestScheduler().start { profile(name: .error(Status(500)), posts: .never()) }

        #expect(seen.events == [.next(230, "Ada: 3 posts"), .completed(230)])
        #expect(failed.events == [.error(200, Status(500))])
    }

    @Test func `3.2 a request that takes too long fails`() {
        let seen = scheduler.start { [self] in impatient(answer("late", after: 6), on: scheduler) }
        let quick = TestScheduler()
        let answered = quick.start {
            impatient(Observable<Int>.timer(.seconds(4), scheduler: quick).map { _ in "here" }, on: quick)
        }

        #expect(seen.events == [.error(205, TimedOut())])
        #expect(answered.events == [.next(204, "here"), .completed(204)])
    }

    @Test func `3.3 a request that fails is tried again later and later`() {
        let request = scheduler.createColdObservable([Recorded<Event<String>>.error(10, Status(503))])

        let seen = scheduler.start { [scheduler] in persistent(request.asObservable(), on: scheduler) }

        #expect(request.subscriptions.map(\.subscribe) == [200, 211, 223, 237])
        #expect(seen.events == [.error(247, Status(503))])
    }

    @Test func `3.4 a connection is closed once, whatever ends the talk`() {
        let lines = [Line(), Line()]
        let texts = PublishSubject<String>()
        let answers = scheduler.createObserver(String.self)

        let first = talk(texts, over: { lines[0] }).subscribe(answers)
        texts.onNext("hello")
        lines[0].subject.onNext("welcome")
        first.dispose()
        _ = talk(texts, over: { lines[1] }).subscribe(answers)
        lines[1].subject.onError(Status(500))
        texts.onNext("nobody hears this")
        _ = talk(texts, over: { throw Status(404) }).subscribe(answers)

        #expect(lines.map(\.heard.value) == [["hello"], []])
        #expect(lines.map(\.closings.value) == [1, 1])
        #expect(answers.events.map(\.value) == [.next("welcome"), .error(Status(500)), .error(Status(404))])
    }

    @Test func `3.5 a worn out token is renewed once for all`() {
        let renewals = BehaviorRelay(value: 0)
        let tokens = AcquisitionService(initial: "old", scheduler: scheduler) { [scheduler] _ in
            renewals.accept(renewals.value + 1)
            return Observable<Int>.timer(.seconds(10), scheduler: scheduler).map { _ in "new" }
        }
        let answers = scheduler.createObserver(String.self)

        for _ in 0..<3 {
            _ = authorized(by: tokens) { token in token == "new" ? .just("ok") : .error(Status(401)) }
                .subscribe(answers)
        }
        _ = authorized(by: tokens) { _ in .error(Status(500)) }.subscribe(answers)
        scheduler.start()

        #expect(renewals.value == 1)
        #expect(
            answers.events.map(\.value) == [.error(Status(500))] + (0..<3).flatMap { _ in [.next("ok"), .completed] })
    }

    @Test func `3.6 pages are loaded as somebody scrolls, and never two at once`() {
        let scrolls = scheduler.createHotObservable([
            .next(250, ()), .next(255, ()), .next(300, ()), .next(350, ()),
        ])
        let asked = BehaviorRelay<[Int]>(value: [])

        let seen = scheduler.start { [self] in
            pages(scrolledToEnd: scrolls.asObservable(), on: scheduler) { number in
                asked.accept(asked.value + [number])
                return answer(number > 2 ? [] : ["item \(number)"], after: 20)
            }
        }

        #expect(asked.value == [1, 2, 3])
        let states = seen.events.compactMap { if case .next(let pages) = $0.value { pages } else { nil } }
        #expect(states.last?.items == ["item 1", "item 2"])
        #expect(states.last?.next == nil)
        #expect(states.last?.isLoading == false)
    }
}
