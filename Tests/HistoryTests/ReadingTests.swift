import ChatModel
import Identity
import Testing

@testable import History

struct ReadingTests {
    private let scratch: Scratch
    private let history: History
    private var bob = Author()

    init() throws {
        scratch = try Scratch()
        history = try History.open(directory: scratch.path, room: lab, key: SigningKey()).0
    }

    private func texts(_ filter: LineFilter, _ count: Int = 100) throws -> [String] {
        try history.on { try $0.lines(last: count, filter) }.map(\.said)
    }

    private func after(_ arrival: Int64, _ count: Int = 100, _ filter: LineFilter = LineFilter()) throws -> [String] {
        try history.on { try $0.lines(after: arrival, count: count, filter) }.map(\.said)
    }

    @Test mutating func `lines are found by author and by the time that they show`() throws {
        for number in 1...5 {
            _ = try history.append(text("own \(number)", at: UInt64(number) * 10_000))
            _ = try history.store(bob.say("bob \(number)", at: UInt64(number) * 10_000 + 1))
        }

        #expect(try texts(LineFilter(author: bob.key.peer)) == (1...5).map { "bob \($0)" })
        #expect(try texts(LineFilter(author: bob.key.peer), 2) == ["bob 4", "bob 5"])
        #expect(try texts(LineFilter(since: 40_000)) == ["own 4", "bob 4", "own 5", "bob 5"])
        #expect(try texts(LineFilter(until: 20_000)) == ["own 1", "bob 1", "own 2"])
        #expect(try texts(LineFilter(since: 20_001, until: 30_000), 1) == ["own 3"])
        #expect(try texts(LineFilter(author: SigningKey().peer)).isEmpty)
        #expect(try texts(LineFilter(since: 60_000)).isEmpty)
    }

    @Test mutating func `few wanted lines among many are all found, page by page`() throws {
        for number in 1...300 {
            var event = text("line \(number)", at: 1_000_000)
            // As from a clock that was set back.
            if !number.isMultiple(of: 50) { event.wallTime = 1_000 }
            _ = try history.store(bob.seal([event]))
        }
        let filter = LineFilter(since: 900_000, until: 2_000_000)

        #expect(try texts(LineFilter(until: 1_000)).count == 100)
        #expect(try texts(filter) == [50, 100, 150, 200, 250, 300].map { "line \($0)" })
        let newest = try history.on { try $0.lines(last: 2, filter) }
        #expect(newest.map(\.said) == ["line 250", "line 300"])
        let before = try history.on { try $0.lines(before: newest[0].position, count: 2, filter) }
        #expect(before.map(\.said) == ["line 150", "line 200"])
    }

    @Test mutating func `what came after an arrival comes in the order in which it came, wherever it stands`() throws {
        _ = try history.append(text("own", at: 5_000))
        #expect(try after(0) == ["own"])
        let start = history.on { $0.newestArrival }
        _ = try history.store(bob.say("old 1", "old 2", at: 1_000), bob.say("old 3", at: 1_000))

        let lines = try history.on { try $0.lines(after: start, count: 100) }

        #expect(lines.map(\.said) == ["old 1", "old 2", "old 3"])
        #expect(try history.texts() == ["old 1", "old 2", "old 3", "own"])
        #expect(try after(lines[0].arrival) == ["old 2", "old 3"])
        #expect(try after(lines[1].arrival, 1) == ["old 3"])
        #expect(try after(start, 2) == ["old 1", "old 2"])
        #expect(try after(start, 9, LineFilter(until: 10)).isEmpty)
        #expect(try after(history.on { $0.newestArrival }).isEmpty)
    }

    @Test mutating func `a batch is where its lines are, and what overlaps comes once`() throws {
        let first = bob.say("one", "two")
        let joined = bob.join([first, bob.say("three")])
        _ = try history.store(first)
        _ = try history.store(joined)

        let lines = try history.on { try $0.lines(after: 0, count: 9) }

        #expect(lines.map(\.said) == ["one", "two", "three"])
        let places = history.on { history in [first, joined].map { history.arrival(of: $0) } }
        #expect(places[0] == lines[0].arrival)
        #expect(places[1].map { $0 + 2 } == lines[2].arrival)
        #expect(history.on { $0.arrival(of: bob.say("unknown")) } == nil)
    }

    @Test mutating func `authors are known by the name that they had last`() throws {
        #expect(history.on { $0.authors() }.isEmpty)
        _ = try history.store(bob.say("hi"))
        var renamed = text("hi again")
        renamed.body = EventBody.text("hi again").encoded(authorName: "bobby")
        _ = try history.store(bob.seal([renamed]))

        #expect(history.on { $0.authors() } == [bob.key.peer: "bobby"])
    }
}
