/// All the chance of one schedule, from its seed (SplitMix64).
struct Chance: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func among(_ range: ClosedRange<UInt64>) -> UInt64 {
        let width = range.upperBound - range.lowerBound
        return width == .max ? next() : range.lowerBound + next() % (width + 1)
    }

    mutating func index(below count: Int) -> Int { Int(next() % UInt64(count)) }
    mutating func isOne(in count: UInt64) -> Bool { next() % count == 0 }
}
