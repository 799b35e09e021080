import Identity

/// A run of consecutive events of one log, with the id of its last: enough to tell whether two hosts mean the same.
public struct EventRange: Hashable, Sendable {
    public var numbers: ClosedRange<UInt64>
    public var lastID: EventID

    public init(numbers: ClosedRange<UInt64>, lastID: EventID) {
        self.numbers = numbers
        self.lastID = lastID
    }
}

/// What a host holds of one log: ranges that ascend and leave gaps (docs/protocol.md, "Have and Want").
public struct EventRanges: Hashable, Sendable {
    /// How many a host may hold of one log.
    public static let maximumCount = 4

    public private(set) var all: [EventRange] = []

    public init() {}

    /// Those that overlap or touch become one.
    public init(_ ranges: [EventRange]) {
        all.reserveCapacity(ranges.count)
        for range in ranges { insert(range) }
    }

    public var isEmpty: Bool { all.isEmpty }
    /// The highest number that is held; 0 if there is none.
    public var last: UInt64 { all.last?.numbers.upperBound ?? 0 }
    public var lastID: EventID { all.last?.lastID ?? .none }
    /// How many events are held.
    public var count: UInt64 { all.reduce(0) { $0 + UInt64($1.numbers.count) } }

    public func contains(_ number: UInt64) -> Bool { all.contains { $0.numbers.contains(number) } }

    /// The range that a number is in.
    public func range(with number: UInt64) -> EventRange? { all.first { $0.numbers.contains(number) } }

    /// Which of these numbers aren't held, ascending.
    public func missing(in numbers: ClosedRange<UInt64>) -> [ClosedRange<UInt64>] {
        var missing: [ClosedRange<UInt64>] = []
        var next = numbers.lowerBound
        for range in all where range.numbers.overlaps(numbers) {
            if range.numbers.lowerBound > next { missing.append(next...range.numbers.lowerBound - 1) }
            next = range.numbers.upperBound + 1
        }
        if next <= numbers.upperBound { missing.append(next...numbers.upperBound) }
        return missing
    }

    /// Which numbers that others hold aren't held here, ascending.
    public func missing(of others: EventRanges) -> [ClosedRange<UInt64>] {
        // By far the most common: there is nothing to tell.
        if all.count == 1, let ours = all.first?.numbers, others.all.allSatisfy({ ours.contains($0.numbers) }) {
            return []
        }
        return others.all.flatMap { missing(in: $0.numbers) }
    }

    /// Which numbers below the highest one aren't held, ascending.
    public var gaps: [ClosedRange<UInt64>] { last > 0 ? missing(in: 1...last) : [] }

    /// How many events directly before this one aren't held.
    public func missingCount(before number: UInt64) -> UInt64 {
        guard let place = all.firstIndex(where: { $0.numbers.lowerBound == number }) else { return 0 }
        return number - 1 - (place > 0 ? all[place - 1].numbers.upperBound : 0)
    }

    /// How many ranges there are once these numbers are held too.
    public func countAdding(_ numbers: ClosedRange<UInt64>) -> Int {
        let neighbours = all.count { Self.touch($0.numbers, numbers) }
        return all.count - neighbours + 1
    }

    /// Takes in what is held now.
    public mutating func insert(_ range: EventRange) {
        var merged = range
        if let place = all.indices.last, all[place].numbers.contains(range.numbers.lowerBound - 1) {
            // By far the most common: the log goes on.
            guard range.numbers.upperBound > all[place].numbers.upperBound else { return }
            merged.numbers = all[place].numbers.lowerBound...range.numbers.upperBound
            all[place] = merged
            return
        }
        all.removeAll { known in
            guard Self.touch(known.numbers, merged.numbers) else { return false }
            if known.numbers.upperBound > merged.numbers.upperBound { merged.lastID = known.lastID }
            let first = min(known.numbers.lowerBound, merged.numbers.lowerBound)
            merged.numbers = first...max(known.numbers.upperBound, merged.numbers.upperBound)
            return true
        }
        let place = all.firstIndex { $0.numbers.lowerBound > merged.numbers.lowerBound } ?? all.endIndex
        all.insert(merged, at: place)
    }

    /// Whether two ranges overlap, or one begins where the other ends.
    private static func touch(_ left: ClosedRange<UInt64>, _ right: ClosedRange<UInt64>) -> Bool {
        left.lowerBound <= right.upperBound + 1 && right.lowerBound <= left.upperBound + 1
    }
}
