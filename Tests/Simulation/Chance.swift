import ChatModel

/// All the chance of one schedule, from its seed.
struct Chance: RandomNumberGenerator {
    private var numbers: SplitMix64
    init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { numbers.next() }

    mutating func among(_ range: ClosedRange<UInt64>) -> UInt64 {
        let width = range.upperBound - range.lowerBound
        return width == .max ? next() : range.lowerBound + next() % (width + 1)
    }

    mutating func index(below count: Int) -> Int { Int(next() % UInt64(count)) }
    mutating func isOne(in count: UInt64) -> Bool { next() % count == 0 }
}
