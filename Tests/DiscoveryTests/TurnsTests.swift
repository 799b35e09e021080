import ChatModel
import Testing

@testable import Discovery

struct TurnsTests {
    @Test func `each element is in once, and leaves at either end or from between`() {
        var turns = Turns<Int>()
        for element in [1, 2, 3, 4, 2] { turns.append(element) }
        turns.remove(3)
        #expect(turns.popLast() == 4)
        turns.append(1)
        turns.append(3)

        #expect([turns.popFirst(), turns.popFirst(), turns.popFirst(), turns.popFirst()] == [1, 2, 3, nil])
        #expect(turns.isEmpty && turns.popLast() == nil)
    }

    @Test(arguments: 1...20) func `it does as a plain list does, whatever is done in whatever order`(seed: UInt64) {
        var (turns, list, random) = (Turns<UInt64>(), [UInt64](), SplitMix64(seed: seed))
        for _ in 1...5_000 {
            let element = random.next() % 40
            switch random.next() % 8 {
            case 0...3:
                turns.append(element)
                if !list.contains(element) { list.append(element) }
            case 4, 5:
                turns.remove(element)
                list.removeAll { $0 == element }
            case 6: #expect(turns.popFirst() == (list.isEmpty ? nil : list.removeFirst()))
            default: #expect(turns.popLast() == list.popLast())
            }
            #expect(turns.isEmpty == list.isEmpty)
        }
    }

    /// What a loaded machine does in a second took minutes when each step looked through all that waits.
    @Test(.timeLimit(.minutes(1))) func `thousands that wait and come and go cost no more than they are`() {
        var pool = ResolverPool()
        for number in 0..<60_000 {
            let record = RecordKey(
                interface: 2, family: .v4, lane: 0, instance: Array("a forged instance, number \(number)".utf8))
            _ = pool.appeared(record, at: 0)
            if number.isMultiple(of: 3) { _ = pool.failed(record, at: 0) }
            if number.isMultiple(of: 7) { _ = pool.vanished(record, at: 0) }
        }

        #expect(pool.instanceCount <= ResolverPool.Limits().instances)
    }
}
