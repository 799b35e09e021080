import ChatModel
import Identity
import Testing

@testable import Control

struct LineNotificationsTests {
    private let alice = SigningKey().peer
    private let bob = SigningKey().peer
    private let birth = Incarnation(0x0123_4567_89AB_CDEF)

    private func line(_ text: String, by author: PeerID, _ name: String, isOwn: Bool = false) -> Transcript {
        Transcript(
            direction: isOwn ? .send : .receive, peer: author, name: name, content: .text(text),
            time: 1_700_000_000_123, id: EventID(SHA256.digest(of: Array(text.utf8))))
    }

    private func view(_ line: Transcript, _ cursor: Cursor) -> LineView {
        var view = LineView(
            id: line.id?.description, direction: line.direction == .send ? .send : .receive, kind: .text,
            author: line.peer.description, suffix: line.peer.suffix, name: line.name, time: Int(line.time))
        if case .text(let text) = line.content { view.text = text }
        view.cursor = cursor.description
        return view
    }

    @Test func `texts of several authors are written as one by one`() throws {
        let lines = [
            line("a", by: alice, "alice"), line("b \"quoted\" \\ \u{202e}", by: alice, "alice"),
            line("c", by: bob, "bób \"x\""), line("", by: bob, "bob", isOwn: true), line("d", by: alice, "alicia"),
            line(String(repeating: "long ", count: 200), by: alice, "alicia"),
        ]
        var together = LineNotifications()
        var expected: [UInt8] = []
        for (line, arrival) in zip(lines, [0, 9, 10, 12_345_678, Int64.max, -1]) {
            let cursor = Cursor(birth: birth, arrival: arrival)
            let isTaken = together.append(text: line, cursor)
            #expect(isTaken)
            expected += try ControlNotification.line(view(line, cursor)).encoded()
        }

        #expect(together.count == 6)
        #expect(String(decoding: together.bytes, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
    }

    @Test func `what isn't a plain text goes the general way`() throws {
        var late = line("late", by: alice, "alice")
        late.timing = .late(by: 90_000)
        let notice = Transcript(
            direction: .local, peer: alice, name: "alice", content: .notice("here"), time: 1)
        let cursor = Cursor(birth: birth, arrival: 1)
        var together = LineNotifications()

        for line in [late, notice] {
            let isTaken = together.append(text: line, cursor)
            #expect(!isTaken)
        }
        together.append(view(late, cursor))
        #expect(try together.bytes == ControlNotification.line(view(late, cursor)).encoded())
        #expect(together.count == 1)
    }
}
