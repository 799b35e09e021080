import ChatModel
import Identity
import Testing

@testable import History

/// The transcript's order, and events found by their ids.
struct OrderTests {
    private let scratch: Scratch
    private let key = SigningKey()
    private var bob = Author()

    init() throws { scratch = try Scratch() }

    private func open() throws -> History { try History.open(directory: scratch.path, room: lab, key: key).0 }

    private func runs(
        _ clocks: [UInt64], between latest: UInt64 = 0, and earliest: UInt64 = 1 << 40, kinds: [UInt8] = []
    ) -> [Range<Int>] {
        var events = clocks.map { text("x", at: $0) }
        for (place, kind) in kinds.enumerated() { events[place].kind = EventKind(kind) }
        let batch = Batch(
            sealing: events, in: bob.log, of: lab, first: 1, previous: .none, with: bob.key)
        let stored = StoredBatch(row: 1, numbers: batch.numbers, arrived: History.now(), batch: batch)
        return stored.runs(between: HybridTime(milliseconds: latest), and: HybridTime(milliseconds: earliest))
            .map(\.places)
    }

    @Test func `a batch is one run where its clock goes on, and each event its own where it has gone back`() {
        #expect(runs([1, 1, 2, 60_000]) == [0..<4])
        #expect(runs([5, 6], between: 5) == [0..<2])
        #expect(runs([5, 6, 7, 8, 9], between: 7) == [0..<1, 1..<2, 2..<5])
        #expect(runs([5, 6, 7, 8, 9], between: 0, and: 7) == [0..<3, 3..<4, 4..<5])
        #expect(runs([10, 11, 3, 4, 11, 12]) == [0..<2, 2..<3, 3..<4, 4..<6])
        #expect(runs([1, 86_400_001, 86_400_002]) == [0..<2, 2..<3])
        #expect(runs([1, 2, 3], kinds: [1, 77, 2]) == [0..<1, 2..<3])
    }

    /// Batches of some authors, whose clocks go on together, or as they like.
    private func conversation(_ dice: inout SplitMix64) -> [Batch] {
        var authors = (1...4).map { Author(incarnation: UInt128($0)) }
        var clock: UInt64 = 1_000
        var batches: [Batch] = []
        for _ in 0..<60 {
            let place = Int.random(in: 0..<authors.count, using: &dice)
            let isLiar = place == 0
            let events = (0..<Int.random(in: 1...9, using: &dice)).map { _ in
                let steps: [UInt64] = [0, 1, 400, 20_000, 900_000, 9_000_000]
                clock += steps[Int.random(in: 0..<steps.count, using: &dice)]
                let said = isLiar ? UInt64.random(in: 0...2 * clock, using: &dice) : clock
                return text("x", at: said, nonce: .random(in: .min ... .max, using: &dice))
            }
            batches.append(authors[place].seal(events))
        }
        return batches
    }

    @Test(arguments: 1...8) func `pages of any length, from any line, are the sorted transcript`(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let history = try open()
        let batches = conversation(&dice)
        // Half of them come as they were said, half in any order; what has no place yet comes again.
        var coming = seed.isMultiple(of: 2) ? batches.shuffled(using: &dice) : batches
        while let batch = coming.first {
            coming.removeFirst()
            if try history.store(batch) == [.gap] { coming.append(batch) }
        }
        let all = batches.flatMap { batch in
            batch.events.indices.map { place in
                StoredLine.Position(
                    clock: batch.events[place].clock, author: batch.log.author, number: batch.first + UInt64(place),
                    id: batch.ids[place])
            }
        }.sorted()

        for count in [1, 2, 7, 50, .max] {
            #expect(try history.on { try $0.lines(last: count) }.map(\.position) == all.suffix(count))
            for _ in 0..<20 {
                let place = Int.random(in: 0..<all.count, using: &dice)
                let page = try history.on { try $0.lines(before: all[place], count: count) }
                #expect(page.map(\.position) == all[..<place].suffix(count))
            }
        }
        let middle = all[all.count / 2]
        let filter = LineFilter(author: middle.author, until: middle.clock.milliseconds)
        #expect(
            try history.on { try $0.lines(last: .max, filter) }.map(\.position)
                == all.filter { $0.author == middle.author && $0.clock.milliseconds <= middle.clock.milliseconds })
        #expect(
            try history.on { try $0.lines(last: 9, LineFilter(since: middle.clock.milliseconds)) }.map(\.position)
                == all.filter { $0.clock.milliseconds >= middle.clock.milliseconds }.suffix(9))
    }

    @Test mutating func `events are found by id in every segment, in none, and after a new start`() throws {
        let history = try open()
        history.on { $0.segmentLength = 40 }
        var ids: [EventID] = []
        for count in [1, 39, 3, 100, 7, 20, 30, 2] {
            let batch = bob.seal((0..<count).map { _ in text("x") })
            _ = try history.store(batch)
            ids += batch.ids
        }

        let segments = try history.on { try $0.reader.first("SELECT max(row) >> 7 FROM tags", [], { $0.integer(0) }) }
        #expect(segments == 2)
        #expect(history.on { history in ids.allSatisfy { history.line($0)?.id == $0 } })
        #expect(history.on { $0.line(EventID(SHA256.digest(of: [1]))) } == nil)
        history.on { $0.close() }
        let again = try open()
        again.on { $0.segmentLength = 40 }
        #expect(again.on { history in ids.allSatisfy { history.line($0)?.id == $0 } })
        let batch = bob.seal((0..<50).map { _ in text("y") })
        _ = try again.store(batch)
        #expect(again.on { history in (ids + batch.ids).allSatisfy { history.line($0)?.id == $0 } })
        try again.on { try $0.rebuildIndex() }
        #expect(again.on { history in (ids + batch.ids).allSatisfy { history.line($0)?.id == $0 } })
    }

    @Test mutating func `a row that points elsewhere is found out, and the order is made anew`() throws {
        let history = try open()
        _ = try history.store(bob.say("1", "2", at: 5), bob.say("3", at: 6))
        let before = try history.on { try $0.lines(last: 9) }
        for change in ["batch = 2 WHERE batch = 1", "clock = clock + 1", "count = 3 WHERE count = 2", "start = 0"] {
            try history.on { try $0.writer.run("UPDATE run SET \(change)") }
            #expect(try history.on { try $0.lines(last: 9) } == before)
        }
    }

    @Test mutating func `while nothing can be written, what isn't in the order's table is read from the batches`()
        throws
    {
        let history = try open()
        _ = try history.store(bob.say("1", "2", at: 5))
        try history.on { history in
            try history.writer.run("DELETE FROM run")
            try history.writer.run("UPDATE birth SET ordered = 0")
            history.ordered = 0
            try history.writer.run(
                "CREATE TEMP TRIGGER never BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        _ = try history.store(bob.say("3", at: 6))

        #expect(try history.texts() == ["1", "2", "3"])
        try history.on { try $0.writer.run("DROP TRIGGER never") }
        #expect(try history.texts() == ["1", "2", "3"])
        #expect(history.on { $0.ordered } == History.allRows)
    }
}
