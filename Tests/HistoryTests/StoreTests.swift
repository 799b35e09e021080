import ChatModel
import Foundation
import Identity
import Testing

@testable import History

struct StoreTests {
    let scratch: Scratch
    let history: History
    let own: LogID
    var bob = Author()

    init() throws {
        scratch = try Scratch()
        let (history, opened) = try History.open(directory: scratch.path, room: lab, key: SigningKey())
        self.history = history
        own = opened.ownLog
    }

    func batches(_ numbers: ClosedRange<UInt64>, atMost bytes: Int = .max) throws -> [[UInt8]] {
        try history.on { try $0.batches(of: bob.log, covering: numbers, atMost: bytes) }
    }

    /// The ids of what is answered, all of it under one seal.
    func answered(_ numbers: ClosedRange<UInt64>, atMost bytes: Int = .max) throws -> [EventID] {
        let joined = try batches(numbers, atMost: bytes)
        #expect(joined.count == 1)
        return try Batch(verifying: joined[0], in: lab, reader: SigningKey().peer).ids
    }

    @Test mutating func `a batch is stored once, and then known`() throws {
        let batch = bob.say("hello", "again")

        let first = try history.store(batch)
        let second = try history.store(batch)

        let lines = try history.on { try $0.lines(of: batch) }
        #expect(first.map(\.new) == [[1...2]])
        #expect(lines.map(\.said) == ["hello", "again"] && lines.map(\.number) == [1, 2])
        #expect(lines[0].arrival < lines[1].arrival)
        #expect(second == [.known])
        #expect(history.on { $0.line(batch.ids[1]) } == lines[1])
    }

    @Test mutating func `overlapping rows are stored as they came, and each event is shown once`() throws {
        let parts = [bob.say("1", "2"), bob.say("3"), bob.say("4", "5")]
        let joined = bob.join(parts, from: 1)

        _ = try history.store(parts[0])
        let result = try history.store(joined)

        #expect(result.map(\.new) == [[3...5]])
        #expect(try history.texts() == ["1", "2", "3", "4", "5"])
        #expect(try history.store(parts[1], parts[2]) == [.known, .known])
        #expect(try answered(1...5) == parts[0].ids + joined.ids.dropFirst(parts[0].ids.count + 1 - Int(joined.first)))
        #expect(try batches(2...2) == [parts[0].bytes])
        #expect(try batches(3...3) == [joined.bytes])
        #expect(history.on { $0.line(joined.lastID) }?.number == 5)
    }

    @Test mutating func `an answer covers the range without a hole, under one seal, and keeps to its limit`() throws {
        let parts = (1...20).map { bob.say("\($0)") }
        for part in parts { _ = try history.store(part) }
        let length = parts[0].bytes.count

        #expect(try answered(5...8) == parts[4...7].map(\.lastID))
        #expect(try answered(5...99, atMost: 3 * length) == parts[4...6].map(\.lastID))
        #expect(try batches(20...UInt64.max, atMost: 1) == [parts[19].bytes])
        #expect(try batches(21...30).isEmpty)
        #expect(try history.on { try $0.batches(of: own, covering: 1...1, atMost: .max) }.isEmpty)
    }

    @Test(arguments: [0, 1, 2]) func `a second history under one number is kept as proof, and ends the incarnation`(
        overlap: Int
    ) throws {
        var bob = Author()
        let parts = [bob.say("1"), bob.say("2"), bob.say("3")]
        var twin = bob
        twin.head = LogHead(last: UInt64(overlap), lastID: overlap == 0 ? .none : parts[overlap - 1].lastID)
        let other = twin.seal((overlap..<4).map { text("other \($0)") })
        for part in parts { _ = try history.store(part) }

        #expect(try history.store(other) == [.forked])
        #expect(try history.store(bob.say("4")) == [.forked])
        history.on { $0.close() }
        let (again, opened) = try History.open(directory: scratch.path, room: lab, key: SigningKey())

        #expect(try again.store(bob.say("5")) == [.forked])
        #expect(try again.texts() == ["1", "2", "3"])
        #expect(opened.ranges[bob.log]?.last == 3)
        #expect(try again.on { try $0.reader.all("SELECT proof FROM fork") { $0.blob(0) } } == [other.bytes])
    }

    @Test mutating func `an older batch that differs is a fork, and one whose predecessor differs too`() throws {
        let before = bob
        let parts = [bob.say("1"), bob.say("2"), bob.say("3")]
        var liar = before
        let older = liar.say("one")
        var carol = Author()
        let first = carol.say("1")
        carol.head.lastID = EventID(SHA256.digest(of: [1]))
        let second = carol.say("2")

        _ = try history.store(parts[0], parts[1], parts[2], first)

        #expect(try history.store(older, second) == [.forked, .forked])
    }

    @Test func `own events that we lack open a new incarnation`() throws {
        let key = SigningKey()
        let home = try Scratch()
        let (history, opened) = try History.open(directory: home.path, room: lab, key: key)
        let lost = Batch(
            sealing: [text("lost", nonce: 7)], in: opened.ownLog, of: lab, first: 1, previous: .none, with: key)

        let stored = try history.store(lost)
        let result = try history.append(text("new"), text("lost", nonce: 7))

        #expect(stored.count == 1 && history.on { $0.ownLog } != opened.ownLog)
        #expect(result == [.appended(try #require(result[0].id), number: 1), .repeated(lost.lastID)])
        #expect(try Set(history.texts()) == ["lost", "new"])
        history.on { $0.close() }
        #expect(try History.open(directory: home.path, room: lab, key: key).1.ownLog == history.ownLog)
    }

    @Test func `two histories show one order, whatever the order of arrival`() throws {
        var authors = (0..<4).map { _ in Author() }
        var batches: [[Batch]] = []
        for index in authors.indices {
            batches.append(
                (0..<10).map { step in
                    authors[index].seal((0..<3).map { text("\(index).\(step).\($0)", at: UInt64.random(in: 1...8)) })
                })
        }
        let home = try Scratch()
        let (other, _) = try History.open(directory: home.path, room: lab, key: SigningKey())

        for step in 0..<10 { for index in authors.indices { _ = try history.store(batches[index][step]) } }
        for index in authors.indices.reversed() { _ = try other.on { try $0.store(batches[index]) } }

        let texts = try history.texts()
        #expect(texts.count == 120)
        #expect(try other.texts() == texts)
        let lines = try history.on { try $0.lines(last: .max) }
        #expect(lines.map(\.position) == lines.map(\.position).sorted())
    }

    @Test mutating func `pages going back join without a repeat or a hole`() throws {
        _ = try history.store(bob.seal((1...100).map { text("\($0)", at: UInt64($0 / 7)) }))
        _ = try history.append(text("own", at: 3))

        var pages = try history.on { try $0.lines(last: 9) }
        while let first = pages.first {
            let page = try history.on { try $0.lines(before: first.position, count: 9) }
            if page.isEmpty { break }
            pages = page + pages
        }

        #expect(pages == (try history.on { try $0.lines(last: .max) }))
        #expect(pages.count == 101)
        #expect(try history.on { try $0.lines(last: 0) }.isEmpty)
    }

    @Test mutating func `an event from the far future stands where it arrived`() throws {
        let ahead = History.now() + 2 * History.maximumClockLead
        _ = try history.store(bob.say("future", at: ahead))
        _ = try history.append(text("now", at: History.now() + 1_000))

        let lines = try history.on { try $0.lines(last: 9) }

        #expect(lines.map(\.said) == ["future", "now"])
        #expect(lines.map(\.isFromTheFuture) == [true, false])
        #expect(lines[0].clock == HybridTime(milliseconds: ahead))
    }

    @Test mutating func `the order index can be made anew`() throws {
        _ = try history.store(bob.say("1", "2"))
        let before = try history.on { try $0.lines(last: 9) }
        try history.on { try $0.rebuildIndex() }

        #expect(try history.on { try $0.lines(last: 9) } == before)
        #expect(try history.on { try $0.reader.first("SELECT sum(count) FROM run") { $0.integer(0) } } == 2)
    }

    @Test mutating func `unknown kinds are kept and passed on, and not shown`() throws {
        var strange = text("strange")
        strange.kind = EventKind(77)
        let batch = bob.seal([strange, text("plain")])

        let result = try history.store(batch)

        #expect(result.map(\.new) == [[1...2]])
        #expect(try history.texts() == ["plain"])
        #expect(try batches(1...2) == [batch.bytes])
    }

    @Test mutating func `an image is unfinished until its outcome is noted`() throws {
        let batch = bob.seal([image("a.png"), image("b.png"), text("look")])
        _ = try history.store(batch)
        try history.on { try $0.note(batch.ids[0], image: .received("/d/a.png")) }
        history.on { $0.close() }

        let (again, opened) = try History.open(directory: scratch.path, room: lab, key: SigningKey())
        try again.on { try $0.note(batch.ids[1], image: .failed("away")) }
        try again.on { try $0.note(batch.ids[1], image: .refused("too big")) }

        #expect(opened.unfinishedImages.map(\.id) == [batch.ids[1]])
        #expect(
            try again.on { try $0.lines(last: 9) }.map(\.image) == [.received("/d/a.png"), .refused("too big"), nil])
        #expect(again.on { $0.line(batch.ids[0]) }?.image == .received("/d/a.png"))
        #expect(try again.on { try $0.unfinishedImages() }.isEmpty)
    }
}

struct Complaint: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
