import ChatModel
import Identity
import Testing

@testable import History

struct RangesTests {
    private let scratch: Scratch
    private let history: History
    private var bob = Author()

    init() throws {
        scratch = try Scratch()
        history = try History.open(directory: scratch.path, room: lab, key: SigningKey()).0
    }

    @Test mutating func `ranges are what the rows hold, with the id at their ends`() throws {
        #expect(try history.on { try $0.rangesOnDisk() }.isEmpty)
        let batches = [bob.say("one", "two"), bob.say("three"), bob.say("four")]
        _ = try history.store(batches[0], bob.join(Array(batches.prefix(2))), batches[2])
        _ = try history.append(text("own"))

        let ranges = try history.on { try $0.rangesOnDisk() }
        #expect(ranges[bob.log]?.all == [EventRange(numbers: 1...4, lastID: batches[2].lastID)])
        #expect(ranges[history.on { $0.ownLog }]?.all.map(\.numbers) == [1...1])
        #expect(try history.on { try $0.id(of: 2, in: bob.log) } == batches[0].ids[1])
        #expect(try history.on { try $0.id(of: 5, in: bob.log) } == nil)
    }

    @Test mutating func `a row that is gone is a gap, though memory doesn't know`() throws {
        let batches = [bob.say("one"), bob.say("two"), bob.say("three")]
        for batch in batches { _ = try history.store(batch) }

        try history.on { try $0.writer.run("DELETE FROM batch WHERE last = 2") }

        #expect(
            try history.on { try $0.rangesOnDisk() }[bob.log]?.all == [
                EventRange(numbers: 1...1, lastID: batches[0].lastID),
                EventRange(numbers: 3...3, lastID: batches[2].lastID),
            ])
    }

    @Test mutating func `what rotted in a row is found by reading all of it, and taken out of its range`() throws {
        let batches = [bob.say("one"), bob.say("two", "three"), bob.say("four"), bob.say("five")]
        for batch in batches { _ = try history.store(batch) }
        for batch in batches[1...2] {
            var rotten = batch.bytes
            rotten[rotten.count - Signature.length - 1] ^= 1
            try history.on { history in
                try history.writer.run(
                    "UPDATE batch SET bytes = ? WHERE last = ?", [.blob(rotten), .integer(Int64(batch.last))])
            }
        }
        func sound() throws -> [EventRange]? {
            try history.on { try $0.withoutDamage($0.rangesOnDisk())[bob.log]?.all }
        }
        #expect(try sound()?.map(\.numbers) == [1...5])

        #expect(try history.on { try $0.audit(after: 0, atMost: 3) } == 3)
        #expect(try history.on { try $0.audit(after: 3, atMost: 3) } == 4)
        #expect(try history.on { try $0.audit(after: 4, atMost: 3) } == nil)

        #expect(history.on { $0.damagedBatches } == 2)
        #expect(
            try sound() == [
                EventRange(numbers: 1...1, lastID: batches[0].lastID),
                EventRange(numbers: 5...5, lastID: batches[3].lastID),
            ])
    }
}
