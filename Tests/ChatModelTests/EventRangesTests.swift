import Identity
import Testing

@testable import ChatModel

struct EventRangesTests {
    private func id(_ number: UInt64) -> EventID { EventID(SHA256.digest(of: [UInt8(truncatingIfNeeded: number)])) }

    private func ranges(_ numbers: ClosedRange<UInt64>...) -> EventRanges {
        EventRanges(numbers.map { EventRange(numbers: $0, lastID: id($0.upperBound)) })
    }

    @Test func `in whatever order events come, the ranges are those of a set of numbers`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<500 {
            var (ranges, held) = (EventRanges(), Set<UInt64>())
            for _ in 0..<12 {
                let first = UInt64.random(in: 1...40, using: &random)
                let numbers = first...first + UInt64.random(in: 0...6, using: &random)
                let count = ranges.countAdding(numbers)
                ranges.insert(EventRange(numbers: numbers, lastID: id(numbers.upperBound)))
                held.formUnion(numbers)

                #expect(ranges.all.count == count)
                #expect(ranges.count == UInt64(held.count))
                #expect((1...50).allSatisfy { ranges.contains($0) == held.contains($0) })
                #expect(ranges.all.allSatisfy { $0.lastID == id($0.numbers.upperBound) })
                #expect(Set(ranges.missing(in: 1...50).flatMap(\.self)) == Set(1...50).subtracting(held))
                #expect(ranges.all.allSatisfy { !held.contains($0.numbers.lowerBound - 1) })
            }
        }
    }

    @Test func `what is missing is named between ranges and before the first`() {
        #expect(ranges(3...4, 8...9).gaps == [1...2, 5...7])
        #expect(ranges(1...4).gaps.isEmpty && EventRanges().gaps.isEmpty)
        #expect(ranges(3...4, 8...9).missingCount(before: 8) == 3)
        #expect(ranges(3...4, 8...9).missingCount(before: 3) == 2)
        #expect(ranges(3...4, 8...9).missingCount(before: 9) == 0)
        #expect(ranges(3...4).missing(of: ranges(1...5, 9...9)) == [1...2, 5...5, 9...9])
    }
}
