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
        let (history, _) = try History.open(directory: state.path, room: room, key: key)
        try history.queue.sync {
            defer { history.close() }
            for first in stride(from: 1, through: count, by: 10_000) {
                let drafts = (first..<min(first + 10_000, count + 1)).map { number in
                    BatchEvent(
                        kind: .text, nonce: .random(),
                        clock: HybridTime(milliseconds: UInt64(number)), wallTime: UInt64(number),
                        body: EventBody.text("line \(number)").encoded(authorName: "alice"))
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

    // MARK: Cursors

    @Test func `from cursor to cursor each line comes once, and the last page says that it is`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 25)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }
        let newest = try session.page(before: nil, count: 1)
        var pages = [try session.page(after: Cursor(birth: newest.end.birth, arrival: 0), count: 10)]
        while let page = pages.last, page.isMore { pages.append(try session.page(after: page.end, count: 10)) }

        #expect(pages.flatMap { texts($0.lines) } == (1...25).map { "line \($0)" })
        #expect(pages.map(\.lines.count) == [10, 10, 5])
        #expect(pages.last?.end == newest.end)
        #expect(try session.page(after: newest.end, count: 10).lines.isEmpty)
        let middle = try session.page(after: pages[1].cursors[4], count: 100)
        #expect(texts(middle.lines) == (16...25).map { "line \($0)" })
    }

    @Test func `a cursor of another birth, or of what isn't here, is refused`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 3)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }
        var cursor = try session.page(before: nil, count: 1).end

        cursor.arrival += 1
        #expect(throws: SessionError.foreignCursor) { try session.page(after: cursor, count: 1) }
        cursor = Cursor(birth: Incarnation(1), arrival: 0)
        #expect(throws: SessionError.foreignCursor) { try session.page(after: cursor, count: 1) }
    }

    @Test func `who goes on behind any line of the transcript loses nothing that stands behind it`() {
        let key = SigningKey().peer
        // Arrivals in the order of the transcript; `nil` is what the host said about the room.
        let arrivals: [Int64?] = [256, nil, 1_024, 512, nil, 768, nil]
        let lines = arrivals.map { arrival in
            var line = Transcript(direction: .local, peer: key, name: "", content: .text(""), time: 0)
            line.arrival = arrival
            return line
        }
        let page = TranscriptPage(lines: lines, end: Cursor(birth: Incarnation(1), arrival: 1_100))

        let cursors = page.cursors.map(\.arrival)

        #expect(cursors == [511, 511, 511, 767, 767, 1_100, 1_100])
        for (index, cursor) in cursors.enumerated() {
            #expect(arrivals.dropFirst(index + 1).allSatisfy { $0.map { $0 > cursor } ?? true })
        }
    }

    @Test func `an older page's cursors mind what stands behind the page too`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 25)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }
        let newest = try session.page(before: nil, count: 10)
        let older = try session.page(before: newest.earlier, count: 10, end: newest.start)

        // All came in the order in which they stand.
        let cursors = (older.cursors + newest.cursors).map(\.arrival)
        let arrivals = (older.lines + newest.lines).compactMap(\.arrival)
        for (cursor, next) in zip(cursors, arrivals.dropFirst()) { #expect(cursor < next) }
        for (cursor, own) in zip(cursors, arrivals) { #expect(cursor >= own) }
        #expect(older.start.arrival < (arrivals.first ?? 0))
        let other = Cursor(birth: Incarnation(1), arrival: 1)
        #expect(throws: SessionError.foreignCursor) { try session.page(before: newest.earlier, count: 1, end: other) }
    }

    @Test func `a page may be of one author or one time, and has no notices of another`() throws {
        let (state, key) = (try StateFolder(), SigningKey())
        try fill(state, key, count: 6)
        let session = try SessionContainer(
            displayName: "alice", room: "lab", configuration: state.configuration(key: key))
        defer { session.leave() }
        for time in [2, 100] as [UInt64] {
            session.notices.add(
                Transcript(
                    direction: .local, peer: key.peer, name: "alice", content: .notice("at \(time)"), time: time))
        }

        #expect(
            texts(try session.page(before: nil, count: 9, LineFilter(since: 2, until: 3)).lines)
                == ["line 2", "at 2", "line 3"])
        #expect(
            texts(try session.page(before: nil, count: 2, LineFilter(author: key.peer)).lines) == ["line 5", "line 6"])
        #expect(try session.page(before: nil, count: 2, LineFilter(author: SigningKey().peer)).lines.isEmpty)
        #expect(session.authors == [key.peer: "alice"])
    }
}
