public import ChatModel
import Identity

extension History {
    /// Reads rows anew, in the order in which they were stored, and computes the hashes of all that is in them.
    ///
    /// Rows that aren't what was stored are reported, and from then on left out by ``withoutDamage(_:)``.
    ///
    /// - Parameters:
    ///   - row: Where the last call ended; 0 for the beginning.
    ///   - count: How many rows to read.
    /// - Returns: The last row that was read; `nil` if none was left.
    /// - Throws: `damaged` where SQLite itself can't make sense of the file.
    public func audit(after row: Int64, atMost count: Int) throws(HistoryError) -> Int64? {
        try requireOpen()
        var last: Int64?
        try reader.run(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row > ? AND row <= ? ORDER BY row LIMIT ?",
            [.integer(row), .integer(newestRow), .integer(Int64(count))]
        ) { row in
            last = row.integer(0)
            _ = storedBatch(row)
            return true
        }
        return last
    }

    /// Ranges that are on the disk, without what came in rows that were found damaged.
    public func withoutDamage(_ ranges: [LogID: EventRanges]) throws(HistoryError) -> [LogID: EventRanges] {
        try requireOpen()
        var sound = ranges
        for (log, numbers) in try damagedNumbers() {
            var rest: [EventRange] = []
            for range in sound[log]?.all ?? [] { rest += try cut(numbers, outOf: range, in: log) }
            sound[log] = EventRanges(rest)
        }
        return sound
    }

    /// What came in damaged rows, lowest numbers first.
    private func damagedNumbers() throws(HistoryError) -> [(log: LogID, numbers: ClosedRange<UInt64>)] {
        var all: [(log: LogID, numbers: ClosedRange<UInt64>)] = []
        for row in damagedRows {
            try reader.run("SELECT log, fresh, last FROM batch WHERE row = ?", [.integer(row)]) { row in
                let (first, last) = (UInt64(clamping: row.integer(1)), UInt64(clamping: row.integer(2)))
                if first <= last, let log = logIDs[row.integer(0)] { all.append((log, first...last)) }
                return true
            }
        }
        return all.sorted { $0.numbers.lowerBound < $1.numbers.lowerBound }
    }

    private func cut(
        _ numbers: ClosedRange<UInt64>, outOf range: EventRange, in log: LogID
    ) throws(HistoryError) -> [EventRange] {
        guard range.numbers.overlaps(numbers) else { return [range] }
        var rest: [EventRange] = []
        if range.numbers.lowerBound < numbers.lowerBound {
            let end = numbers.lowerBound - 1
            if let id = try id(of: end, in: log) {
                rest.append(EventRange(numbers: range.numbers.lowerBound...end, lastID: id))
            }
        }
        if range.numbers.upperBound > numbers.upperBound {
            rest.append(
                EventRange(numbers: numbers.upperBound + 1...range.numbers.upperBound, lastID: range.lastID))
        }
        return rest
    }
}
