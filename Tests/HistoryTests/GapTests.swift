import ChatModel
import Identity
import Testing

@testable import History

/// Logs of which the newest came first.
struct GapTests {
    private let scratch: Scratch
    private let key = SigningKey()
    private let history: History
    private var bob = Author()

    init() throws {
        scratch = try Scratch()
        history = try History.open(directory: scratch.path, room: lab, key: key).0
    }

    private func ranges(of opened: HistoryOpened? = nil) throws -> [ClosedRange<UInt64>] {
        let onDisk = try history.on { try $0.rangesOnDisk() }[bob.log]
        #expect(opened == nil || opened?.ranges[bob.log] == onDisk)
        #expect(history.on { $0.logs[bob.log]?.ranges } == onDisk)
        return onDisk?.all.map(\.numbers) ?? []
    }

    private func reopened() throws -> (History, HistoryOpened) {
        history.on { $0.close() }
        return try History.open(directory: scratch.path, room: lab, key: key)
    }

    private func batches(_ numbers: ClosedRange<UInt64>) throws -> [Batch] {
        try history.on { try $0.batches(of: bob.log, covering: numbers, atMost: .max) }.map {
            try Batch(verifying: $0, in: lab, reader: key.peer)
        }
    }

    @Test mutating func `what is filled from behind ends as if it had come in order`() throws {
        let parts = (1...30).map { bob.say("\($0)", at: UInt64($0)) }
        for part in parts.reversed() {
            let number = part.first
            #expect(try history.store(part).map(\.new) == [[number...number]])
        }

        #expect(try ranges() == [1...30])
        #expect(try history.texts() == (1...30).map(String.init))
        #expect(try batches(1...30).flatMap(\.ids) == parts.map(\.lastID))
        for part in parts { #expect(try history.store(part) == [.known]) }
        let (_, opened) = try reopened()
        #expect(opened.ranges[bob.log]?.all == [EventRange(numbers: 1...30, lastID: parts[29].lastID)])
    }

    @Test mutating func `a batch over several ranges fills each gap, and each event is shown and found once`() throws {
        let parts = (1...12).map { bob.say("\($0)", at: UInt64($0)) }
        for number in [12, 3, 7] { _ = try history.store(parts[number - 1]) }
        #expect(try ranges() == [3...3, 7...7, 12...12])

        let result = try history.store(bob.join(Array(parts.prefix(10))))

        #expect(result.map(\.new) == [[1...2, 4...6, 8...10]])
        #expect(try ranges() == [1...10, 12...12])
        #expect(try history.texts() == (1...12).filter { $0 != 11 }.map(String.init))
        let lines = try history.on { try $0.lines(last: .max) }
        #expect(history.on { history in lines.allSatisfy { history.line($0.id) == $0 } })
        #expect(Set(lines.map(\.arrival)).count == lines.count)
        #expect(try batches(1...20).flatMap(\.ids) == parts.prefix(10).map(\.lastID))
        #expect(try history.store(parts[10]).map(\.new) == [[11...11]])
        #expect(try batches(9...12).last?.last == 12)
    }

    @Test mutating func `an answer ends at a gap, and what begins in one is answered with nothing`() throws {
        let parts = (1...9).map { bob.say("\($0)") }
        for number in [1, 2, 6, 7] { _ = try history.store(parts[number - 1]) }

        #expect(try batches(1...9).flatMap(\.ids) == parts[..<2].map(\.lastID))
        #expect(try batches(3...9).isEmpty)
        #expect(try batches(6...9).flatMap(\.ids) == parts[5..<7].map(\.lastID))
    }

    @Test mutating func `no more ranges are held of a log than can be told`() throws {
        let parts = (1...11).map { bob.say("\($0)") }
        for number in [2, 4, 6, 8] { #expect(try history.store(parts[number - 1])[0].new != nil) }

        #expect(try history.store(parts[9]) == [.gap])
        #expect(try history.store(parts[4], parts[9])[1].new == [10...10])
        #expect(try ranges() == [2...2, 4...6, 8...8, 10...10])
    }

    @Test mutating func `gaps outlast a restart, and lines say how many are missing before them`() throws {
        let parts = (1...9).map { bob.say("\($0)", at: UInt64($0)) }
        for number in [4, 5, 9] { _ = try history.store(parts[number - 1]) }

        let (again, opened) = try reopened()

        #expect(opened.ranges[bob.log]?.all.map(\.numbers) == [4...5, 9...9])
        #expect(opened.ranges[bob.log]?.all.map(\.lastID) == [parts[4].lastID, parts[8].lastID])
        #expect(try again.on { try $0.lines(last: 9) }.map(\.missing) == [3, 0, 3])
        #expect(try again.store(parts[0], parts[1], parts[2]).compactMap(\.new) == [[1...1], [2...2], [3...3]])
        #expect(try again.on { try $0.lines(last: 9) }.map(\.missing) == [0, 0, 0, 0, 0, 3])
    }

    @Test mutating func `what doesn't fit the range above or below it is a fork`() throws {
        let parts = (1...5).map { bob.say("\($0)") }
        var twin = bob
        twin.head = LogHead(last: 2, lastID: parts[1].lastID)
        let other = twin.say("another 3")
        _ = try history.store(parts[3])

        #expect(try history.store(other) == [.forked])
        #expect(try history.store(parts[2]) == [.forked])

        let home = try Scratch()
        let (below, _) = try History.open(directory: home.path, room: lab, key: SigningKey())
        _ = try below.store(parts[0], parts[1], other)
        #expect(try below.store(parts[3]) == [.forked])
    }

    @Test mutating func `a database opened anew after a failure knows the gaps of what was confirmed`() throws {
        let parts = (1...5).map { bob.say("\($0)") }
        _ = try history.store(parts[1], parts[4])
        try history.on { history in
            // As if a commit that wasn't confirmed had reached the disk.
            try history.writer.run("DELETE FROM gap")
            try history.writer.run("INSERT INTO gap VALUES (1, 1, 1)")
            try history.openAnew()
        }

        #expect(try ranges() == [2...2, 5...5])
        let (_, opened) = try reopened()
        #expect(opened.ranges[bob.log]?.gaps == [1...1, 3...4])
    }

    @Test mutating func `a gap that its rows contradict is damage, and sets the database aside`() throws {
        let parts = (1...5).map { bob.say("\($0)") }
        for part in parts { _ = try history.store(part) }
        try history.on { try $0.writer.run("INSERT INTO gap VALUES (1, 9, 12)") }

        let (_, opened) = try reopened()

        #expect(opened.notice?.contains("damaged") == true && opened.ranges.isEmpty)
    }

    @Test mutating func `numbers beyond what can be stored are refused before they come here`() throws {
        let last = Batch.maximumNumber
        let event = text("far")
        func batch(_ number: UInt64) -> Batch {
            Batch(
                sealing: [event], in: bob.log, of: lab, first: number, previous: EventID(lab.digest), with: bob.key)
        }

        #expect(throws: BatchError.number) { try Batch(verifying: batch(last + 1).bytes, in: lab, reader: key.peer) }
        let far = try Batch(verifying: batch(last).bytes, in: lab, reader: key.peer)
        #expect(try history.store(far)[0].new == [last...last])
        let (again, opened) = try reopened()
        #expect(opened.ranges[bob.log]?.gaps == [1...last - 1])
        #expect(try again.on { try $0.lines(last: 1) }.map(\.missing) == [last - 1])
    }
}
