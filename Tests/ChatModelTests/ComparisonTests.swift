import Identity
import Testing

@testable import ChatModel

struct ComparisonTests {
    private let alice = Samples.log(of: Samples.key(1))
    private let bob = Samples.log(of: Samples.key(2))

    /// Ids that stand for a history and a number.
    private func id(_ log: LogID, _ number: UInt64, history: UInt8 = 1) -> EventID {
        EventID(SHA256.digest(of: log.author.bytes + [history, UInt8(truncatingIfNeeded: number)]))
    }

    private func ranges(_ log: LogID, _ numbers: [ClosedRange<UInt64>], history: UInt8 = 1) -> [EventRange] {
        numbers.map { EventRange(numbers: $0, lastID: id(log, $0.upperBound, history: history)) }
    }

    private func entry(_ log: LogID, _ numbers: ClosedRange<UInt64>..., history: UInt8 = 1) -> Verified.Entry {
        Verified.Entry(Have.Entry(log: log, ranges: ranges(log, numbers, history: history)))
    }

    private func missing(_ ours: [LogID: [ClosedRange<UInt64>]], _ theirs: Verified.Entry...) -> [Difference] {
        Comparison.missing(
            of: ours.reduce(into: [:]) { $0[$1.key] = EventRanges(ranges($1.key, $1.value)) }, in: theirs,
            id: { id($0, $1) })
    }

    @Test func `who has the same or more lacks nothing`() {
        #expect(missing([alice: [1...9]], entry(alice, 1...9)).isEmpty)
        #expect(missing([alice: [1...9]], entry(alice, 1...20), entry(bob, 1...2)).isEmpty)
        #expect(missing([alice: [3...9]], entry(alice, 1...9)).isEmpty)
        #expect(missing([:]).isEmpty)
    }

    @Test func `what is lacked is named by its numbers, at the end, in the middle and all of it`() {
        func lacked(_ log: LogID, _ numbers: ClosedRange<UInt64>) -> Difference {
            Difference(log: log, numbers: numbers, kind: .lackedThere)
        }
        #expect(missing([alice: [1...9]], entry(alice, 1...6)) == [lacked(alice, 7...9)])
        #expect(
            missing([alice: [1...9]], entry(alice, 1...2, 4...5, 8...9)) == [
                lacked(alice, 3...3), lacked(alice, 6...7),
            ])
        #expect(missing([alice: [1...9]], entry(bob, 1...9)) == [lacked(alice, 1...9)])
        #expect(missing([alice: [1...2, 8...9]], entry(alice, 1...4)) == [lacked(alice, 8...9)])
    }

    @Test func `another id at the end of a range is another history`() {
        #expect(
            missing([alice: [1...9]], entry(alice, 1...9, history: 2)) == [
                Difference(log: alice, numbers: 1...9, kind: .other)
            ])
        #expect(
            missing([alice: [1...9]], entry(alice, 1...5, history: 2)) == [
                Difference(log: alice, numbers: 6...9, kind: .lackedThere),
                Difference(log: alice, numbers: 1...5, kind: .other),
            ])
    }

    @Test func `what a host says it doesn't keep, or has two histories of, isn't compared`() {
        var forked = entry(alice, 1...5, history: 2)
        forked.isForked = true
        var blocked = entry(bob)
        blocked.isLeftOut = true

        #expect(missing([alice: [1...9], bob: [1...3]], forked, blocked).isEmpty)
        #expect(Comparison.missing(here: [:], of: [forked, blocked]) { _ in true }.isEmpty)
    }

    @Test func `what we lack is named too, but not of authors whom we don't take`() {
        let ours = [alice: EventRanges(ranges(alice, [1...4]))]
        let theirs = [entry(alice, 1...9), entry(bob, 1...2)]

        #expect(
            Comparison.missing(here: ours, of: theirs) { _ in true } == [
                Difference(log: alice, numbers: 5...9, kind: .lackedHere),
                Difference(log: bob, numbers: 1...2, kind: .lackedHere),
            ])
        #expect(Comparison.missing(here: ours, of: theirs) { $0 != bob }.map(\.log) == [alice])
    }

    @Test func `an answer about many logs comes in pages that fit a frame`() throws {
        let held = ranges(alice, [1...2, 4...5])
        let entries = (0..<1_000).map { (number: Int) -> Verified.Entry in
            let log = LogID(author: alice.author, incarnation: Incarnation(UInt128(number)))
            return Verified.Entry(
                Have.Entry(log: log, ranges: held), isForked: number % 2 == 0, isLeftOut: number % 3 == 0)
        }
        let pages = Verified.pages(entries, answering: 7)

        #expect(pages.flatMap(\.entries) == entries && pages.allSatisfy { $0.question == 7 })
        #expect(pages.map(\.isContinued) == Array(repeating: true, count: pages.count - 1) + [false])
        for page in pages {
            let (kind, body) = SessionMessage.verified(page).encoded
            #expect(body.count <= SessionMessage.controlLimit)
            #expect(try SessionMessage(kind: kind, body: body) == .verified(page))
        }
        #expect(Verified.pages([], answering: 1).count == 1)
    }

    @Test func `whoever is linked answers, in one piece, whatever is asked meanwhile`() {
        let (network, alice, bob, _) = RoomNetwork.three()
        alice.say("hi")
        network.run(for: 1_000)

        alice.take(.verify(7, nil))
        for question in 8...20 as ClosedRange<UInt64> { bob.take(.message(alice.key.peer, .verify(question))) }
        network.run(for: 1_000)

        #expect(alice.asked?.question == 7 && alice.asked?.peers.count == 2)
        #expect(Set(alice.answers.map(\.peer)).count == 2)
        #expect(alice.answers.count { $0.peer == bob.key.peer } <= 2)
        #expect(alice.answers.allSatisfy { $0.answer.entries.map(\.have.log) == [alice.disk.ownLog] })
    }

    @Test func `a blocked author's log is named as not kept`() {
        let (network, alice, bob, carol) = RoomNetwork.three()
        carol.say("hi")
        network.run(for: 1_000)
        bob.decide(.block, carol)
        network.run(for: 1_000)

        alice.take(.verify(7, [bob.key.peer]))
        network.run(for: 1_000)

        let entry = alice.answers.first?.answer.entries.first { $0.have.log == carol.disk.ownLog }
        #expect(entry?.isLeftOut == true && entry?.have.ranges.isEmpty == true)
    }
}
