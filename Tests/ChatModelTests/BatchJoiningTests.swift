import Identity
import Testing

@testable import ChatModel

struct BatchJoiningTests {
    private let alice = Samples.key(1)

    /// Batches of these many events, each chained to the one before.
    private func batches(_ counts: [Int], length: Int = 3) -> [Batch] {
        var first: UInt64 = 1
        var previous = EventID.none
        return counts.map { count in
            let events = (0..<count).map { offset in
                Samples.text(String(repeating: "x", count: length), nonce: UInt128(first) + UInt128(offset))
            }
            let batch = Batch(
                sealing: events, in: Samples.log(of: alice), of: Samples.lab, first: first, previous: previous,
                with: alice)
            first += UInt64(count)
            previous = batch.lastID
            return batch
        }
    }

    private func join(_ batches: [Batch]) -> [BatchJoiner.Joined] {
        var joiner = BatchJoiner()
        for batch in batches { joiner.add(batch.bytes, numbers: batch.numbers) }
        return joiner.joined
    }

    private func verified(_ joined: BatchJoiner.Joined) throws -> Batch {
        try Batch(verifying: joined.bytes, in: Samples.lab, reader: Samples.key(2).peer)
    }

    @Test func `batches joined are one under the last seal, with the same events`() throws {
        let parts = batches([1, 3, 1, 2])

        let joined = join(parts)

        #expect(joined.count == 1)
        let whole = try verified(joined[0])
        #expect(whole.ids == parts.flatMap(\.ids))
        #expect(whole.seal == parts[3].seal)
        #expect(joined[0].parts == 4)
    }

    @Test func `of batches that overlap each event is kept once`() throws {
        let parts = batches([2, 2, 2])
        var pair = BatchJoiner()
        pair.add(parts[1].bytes, numbers: parts[1].numbers)
        pair.add(parts[2].bytes, numbers: parts[2].numbers)
        let overlapping = try verified(pair.joined[0])  // 3 to 6

        let joined = join([parts[0], parts[1], overlapping])

        #expect(joined.count == 1)
        #expect(try verified(joined[0]).ids == parts.flatMap(\.ids))
    }

    @Test func `no more than 256 events or 48 KiB are joined`() throws {
        let many = join(batches(Array(repeating: 1, count: 600)))
        #expect(many.map(\.count) == [256, 256, 88])
        for joined in many { _ = try verified(joined) }

        let long = join(batches(Array(repeating: 1, count: 10), length: 16_000))
        #expect(long.map(\.count) == [3, 3, 3, 1])
        for joined in long { #expect(try verified(joined).bytes.count <= Batch.maximumLength) }
    }

    @Test func `what lies apart isn't joined, nor is what has nothing new`() {
        let parts = batches([1, 1, 1])

        #expect(join([parts[0], parts[2]]).count == 2)
        #expect(join([parts[0], parts[0]]).count == 2)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func `rotten bytes trap nothing`(seed: UInt64) {
        var samples = Samples(seed: seed)
        let parts = batches([2, 2])
        for _ in 0..<2_000 {
            var joiner = BatchJoiner()
            joiner.add(parts[0].bytes, numbers: parts[0].numbers)
            joiner.add(samples.mutated(parts[1].bytes), numbers: Bool.random(using: &samples.random) ? 2...4 : 3...4)
            for joined in joiner.joined { _ = try? verified(joined) }
        }
    }
}
