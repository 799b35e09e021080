import Course
import ResourceCounting
import Rx
import RxTest
import Testing

private struct Offline: Error {}

private final class Window: TitledView {
    let titles = BehaviorRelay<[String]>(value: [])
    func show(title: String) { titles.accept(titles.value + [title]) }
}

@Suite(.countsResources) struct Module2Tests {
    private let scheduler = TestScheduler()

    @Test func `2.1 sending is enabled while there is a text and somebody is connected`() {
        let text = scheduler.createHotObservable([
            .next(210, ""), .next(220, "  "), .next(230, "hi"), .next(240, "hi!"),
        ])
        let peers = scheduler.createHotObservable([.next(205, 1), .next(250, 0)])

        let seen = scheduler.start { sendEnabled(text: text.asObservable(), peers: peers.asObservable()) }

        #expect(seen.events == [.next(210, false), .next(230, true), .next(250, false)])
    }

    @Test func `2.2 a tap sends the text as it stands`() {
        let text = scheduler.createHotObservable([.next(210, "h"), .next(220, "hi"), .next(240, "")])
        let taps = scheduler.createHotObservable([.next(205, ()), .next(230, ()), .next(250, ())])

        let seen = scheduler.start { textSent(text: text.asObservable(), taps: taps.asObservable()) }

        #expect(seen.events == [.next(230, "hi")])
    }

    @Test func `2.3 what was sent is cleared`() {
        let sent = scheduler.createHotObservable([.next(230, "hi"), .next(250, "ho")])

        let seen = scheduler.start { textCleared(sent: sent.asObservable()) }

        #expect(seen.events == [.next(230, ""), .next(250, "")])
    }

    @Test func `2.4 a draft is kept when the typing rests, and once`() {
        let text = scheduler.createHotObservable([
            .next(210, "h"), .next(211, "hi"), .next(220, "him"), .next(221, "hi"), .next(230, "hi!"),
        ])

        let seen = scheduler.start { [scheduler] in drafts(text: text.asObservable(), on: scheduler) }

        #expect(seen.events == [.next(213, "hi"), .next(232, "hi!")])
    }

    @Test func `2.5 one source titles all views, and says when it is gone`() {
        let peers = scheduler.createHotObservable([.next(210, 0), .next(220, 1), .next(230, 3), .error(240, Offline())])
        let second = scheduler.createObserver(String.self)
        let driver = title(peers: peers.asObservable(), on: scheduler)
        scheduler.scheduleAt(225) { _ = driver.drive(second) }

        let first = scheduler.start { driver }

        let titles = ["alone", "1 peer", "3 peers", "offline"]
        #expect(first.events.map(\.value) == titles.map { .next($0) } + [.completed])
        #expect(second.events.map(\.value) == titles.dropFirst().map { .next($0) } + [.completed])
        #expect(peers.subscriptions.count == 1)
    }

    @Test func `2.6 a title is shown on the scheduler, and a view that has gone is no matter`() {
        var window: Window? = Window()
        weak let gone = window
        let titles = window?.titles
        let binder = window.map { titleBinder(of: $0, on: scheduler) }

        binder?.onNext("lab")
        #expect(titles?.value == [], "not before the scheduler runs")
        scheduler.start()
        #expect(titles?.value == ["lab"])
        window = nil
        #expect(gone == nil)
        binder?.onNext("nobody sees this")
        scheduler.start()
        #expect(titles?.value == ["lab"])
    }
}
