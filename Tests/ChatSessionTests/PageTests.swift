import ChatModel
import Dispatch
import History
import Identity
import Locking
import ResourceCounting
import Rx
import Testing

@testable import ChatSession

@Suite(.countsResources) struct PageTests {
    /// Puts texts into a history as their author would.
    private func fill(_ state: StateFolder, _ key: SigningKey, count: Int) throws {
        let room = RoomID(openRoom: "lab")
        let (history, opened) = try History.open(directory: state.path, room: room, key: key)
        try history.queue.sync {
            defer { history.close() }
            for first in stride(from: 1, through: count, by: 10_000) {
                let drafts = (first..<min(first + 10_000, count + 1)).map { number in
                    BatchEvent(
                        kind: .text, nonce: .random(),
                        clock: HybridTime(value: opened.latestClock.value + UInt64(number)),
                        wallTime: UInt64(number), body: EventBody.text("line \(number)").encoded(authorName: "alice"))
                }
                _ = try history.append(drafts)
            }
        }
    }

    private func texts(_ lines: [Transcript]) -> [String] {
        lines.map { line in
            switch line.content {
            case .text(let text), .notice(let text): text
            default: ""
            }
        }
    }

    @Test func `pages follow one another without a gap to the beginning, each no longer than asked`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 25)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }

        var pages = [try session.page(before: nil, count: 10)]
        while let earlier = pages.last?.earlier { pages.append(try session.page(before: earlier, count: 10)) }

        #expect(pages.map(\.lines.count) == [10, 10, 5])
        #expect(pages.reversed().flatMap { texts($0.lines) } == (1...25).map { "line \($0)" })
        #expect(throws: SessionError.self) { try session.page(before: EventID(.zero), count: 1) }
    }

    @Test func `notices stand on one page only, and a page of notices alone has a stored line to go on from`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 6)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }
        func say(_ text: String, _ time: UInt64) {
            session.notices.add(
                Transcript(direction: .local, peer: key.peer, name: "alice", content: .notice(text), time: time))
        }
        say("before line 3", 2)
        for number in 1...3 { say("late \(number)", 100) }

        let newest = try session.page(before: nil, count: 3)
        #expect(texts(newest.lines) == ["line 6", "late 2", "late 3"])
        let middle = try session.page(before: newest.earlier, count: 3)
        #expect(texts(middle.lines) == ["line 3", "line 4", "line 5"])
        let first = try session.page(before: middle.earlier, count: 3)
        #expect(texts(first.lines) == ["line 1", "line 2", "before line 3"])
        #expect(first.earlier == nil)
    }

    @Test func `twenty pages of a hundred thousand lines are read in less than two seconds`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 100_000)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }

        var page = try session.page(before: nil, count: 50)
        let clock = ContinuousClock()
        let time = try clock.measure {
            for _ in 0..<20 { page = try session.page(before: page.earlier, count: 50) }
        }

        #expect(texts(page.lines).first == "line 98951")
        #expect(time < .seconds(2), "twenty pages, \(time)")
    }
}
