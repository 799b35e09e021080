import ChatModel
import Control
import ResourceCounting
import Rx
import RxTest
import Testing

@testable import ChatClient

/// The interactive client's outputs, one chain each, under virtual time.
@Suite(.countsResources) struct TalkModelTests {
    private let scheduler = TestScheduler()

    private func seen<Output: Sendable>(
        _ inputs: [Recorded<Event<ScreenInput>>], _ output: @escaping @Sendable (TalkModel) -> Observable<Output>
    ) -> [Recorded<Event<Output>>] {
        let inputs = scheduler.createHotObservable(inputs)
        return scheduler.start {
            output(TalkModel(inputs.asObservable(), from: ChatScreen(columns: 40, rows: 10)))
        }.events
    }

    private func typed(_ text: String) -> ScreenInput { .bytes(Array(text.utf8)) }

    private func transfer(_ completed: Int, _ state: TransferView.State = .running) -> ScreenInput {
        .transfer(
            TransferView(
                transfer: "t", name: "plan.png", direction: .send, completed: completed, total: 100, state: state,
                peers: []))
    }

    @Test func `sending is enabled while there is a line that isn't too long`() {
        let long = String(repeating: "x", count: EventBody.maximumTextLength)

        let events = seen([
            .next(210, typed("h")), .next(220, typed("i\r")), .next(230, typed(long)), .next(240, typed("y")),
        ]) {
            $0.sendEnabled
        }

        #expect(
            events == [.next(200, false), .next(210, true), .next(220, false), .next(230, true), .next(240, false)])
    }

    @Test func `a line that was entered clears the input once, one that is too long doesn't`() {
        let long = String(repeating: "x", count: EventBody.maximumTextLength + 1)

        let events = seen([
            .next(210, typed("hi")), .next(220, typed("\r")), .next(230, typed("\r")), .next(240, typed(long + "\r")),
        ]) {
            $0.textCleared.map { "cleared" }
        }

        #expect(events == [.next(220, "cleared")])
    }

    @Test func `each line of a burst is sent, commands aren't`() {
        let events = seen([.next(210, typed("one\rtwo\r/peers\r")), .next(220, typed("//three\r"))]) { $0.textSent }

        #expect(events == [.next(210, "one"), .next(210, "two"), .next(220, "/three")])
    }

    @Test func `what is asked of the daemon comes out of a chain of its own`() {
        let keys = typed("/peers\r/image plan.png\r/quit\r")

        let events = seen([.next(210, keys)]) { model in
            Observable.merge(
                model.peersAsked.map { "peers" }, model.imageSent, model.left.map { "left \($0.rawValue)" },
                model.textSent)
        }

        #expect(events == [.next(210, "peers"), .next(210, "plan.png"), .next(210, "left 0")])
    }

    @Test func `a line from the room is inserted once, beside what is being typed`() {
        let line = LineView(
            direction: .receive, kind: .notice, author: "bb", suffix: "bb", name: "bob", text: "'bob' is Connected",
            time: 0)

        let events = seen([.next(210, typed("hal")), .next(220, .line(line)), .next(230, typed("f"))]) {
            $0.lineInserted.map { $0.map { String($0.suffix(20)) } }
        }

        #expect(events.count == 1 && events.first?.time == 220)
    }

    @Test func `the bar moves with its transfer and goes with it`() {
        let events = seen([
            .next(210, transfer(10)), .next(220, transfer(10)), .next(230, transfer(60)),
            .next(240, transfer(100, .done)),
        ]) {
            $0.barUpdated.map { $0.map { String($0.suffix(4)) } }
        }

        #expect(events == [.next(200, []), .next(210, [" 10%"]), .next(230, [" 60%"]), .next(240, [])])
    }

    @Test func `the input line is updated when it changes, and by nothing else`() {
        let events = seen([
            .next(210, typed("h")), .next(220, transfer(10)), .next(230, typed("i")), .next(240, typed("\u{1b}[D")),
        ]) { $0.inputUpdated.map { $0.rows.joined() } }

        #expect(events.map(\.time) == [200, 210, 230, 240])
        #expect(events.map(\.value).last == events.map(\.value).dropLast().last, "only the cursor has moved")
    }

    @Test func `everything is drawn anew when that is asked for`() {
        let events = seen([.next(210, typed("x")), .next(220, typed("\u{c}"))]) { $0.redrawn.map { "redrawn" } }

        #expect(events == [.next(220, "redrawn")])
    }

    @Test func `an escape is waited for as long as it may be the start of a key`() {
        let events = seen([.next(210, typed("\u{1b}")), .next(220, .silence), .next(230, typed("x"))]) {
            $0.patience.map { $0 ?? -1 }
        }

        #expect(events == [.next(200, -1), .next(210, KeyParser.escapeLimit), .next(220, -1)])
    }

    @Test func `however many chains are followed, the inputs are subscribed to once`() {
        let inputs = scheduler.createHotObservable([Recorded<Event<ScreenInput>>.next(210, typed("hi\r"))])
        let model = TalkModel(inputs.asObservable(), from: ChatScreen(columns: 40, rows: 10))

        let events = scheduler.start {
            Observable.merge(model.textSent, model.textCleared.map { "cleared" }, model.sendEnabled.map { "\($0)" })
        }.events

        #expect(events.map(\.value).contains(.next("cleared")))
        #expect(inputs.subscriptions.count == 1)
    }
}
