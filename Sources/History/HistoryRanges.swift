public import ChatModel
import Identity

extension History {
    /// What the database holds of the logs for the room, read from its rows and not from memory.
    public func rangesOnDisk() throws(HistoryError) -> [LogID: EventRanges] {
        try requireOpen()
        var ranges: [LogID: EventRanges] = [:]
        for (log, state) in logs where log.isForRoom { ranges[log] = try rangesOnDisk(ofRow: state.row) }
        return ranges
    }

    private func rangesOnDisk(ofRow log: Int64) throws(HistoryError) -> EventRanges {
        var ranges = EventRanges()
        try reader.run("SELECT fresh, last, last_id FROM batch WHERE log = ? ORDER BY last", [.integer(log)]) { row in
            let (first, last) = (UInt64(clamping: row.integer(0)), UInt64(clamping: row.integer(1)))
            guard 1...last ~= first, let id = Bytes32(row.blob(2)) else { return true }
            ranges.insert(EventRange(numbers: first...last, lastID: EventID(id)))
            return true
        }
        return ranges
    }

    /// The id of one event, computed from its row; `nil` if we don't hold it.
    public func id(of number: UInt64, in log: LogID) throws(HistoryError) -> EventID? {
        try requireOpen()
        guard let row = logs[log]?.row else { return nil }
        return try storedBatch(in: reader, covering: number, of: row)?.batch.id(of: number)
    }

    /// Whether the log's author gave one number to two events.
    public func isForked(_ log: LogID) -> Bool { forked.contains(Life(log)) }

    // MARK: - The table gap

    /// What the database says of a log, without reading more than the rows at the ends of its ranges.
    ///
    /// - Returns: `nil` if that makes no sense.
    func loadState(_ log: Int64) throws(HistoryError) -> LogState? {
        let newest = try reader.first(
            "SELECT last, row FROM batch WHERE log = ? ORDER BY last DESC LIMIT 1", [.integer(log)],
            { (last: UInt64(clamping: $0.integer(0)), row: $0.integer(1)) })
        guard let newest else { return nil }
        var state = LogState(row: log, newestRow: newest.row)
        var next: UInt64 = 1
        for gap in try gaps(of: log) + [newest.last + 1...newest.last + 1] {
            guard gap.lowerBound >= next, gap.lowerBound <= newest.last + 1 else { return nil }
            if gap.lowerBound > next {
                guard let end = try storedBatch(in: reader, covering: gap.lowerBound - 1, of: log),
                    end.numbers.upperBound == gap.lowerBound - 1
                else { return nil }
                // Nothing is below the number 1, so how early that is makes no difference.
                let start = next > 1 ? try storedBatch(in: reader, covering: next, of: log)?.clocks.lowerBound : nil
                let latest = end.clocks.upperBound
                let range = EventRange(numbers: next...gap.lowerBound - 1, lastID: end.range.lastID)
                state.insert(range, clocks: min(start ?? HybridTime(value: 0), latest)...latest)
            }
            next = gap.upperBound + 1
        }
        return state
    }

    private func gaps(of log: Int64) throws(HistoryError) -> [ClosedRange<UInt64>] {
        try reader.all("SELECT first, last FROM gap WHERE log = ? ORDER BY first", [.integer(log)]) { row in
            let (first, last) = (UInt64(clamping: row.integer(0)), UInt64(clamping: row.integer(1)))
            return first <= last ? first...last : nil
        }.compactMap(\.self)
    }

    /// Writes down what is missing in a log, in place of what was.
    func keepGaps(of log: LogState, in database: Database? = nil) throws(HistoryError) {
        let database = database ?? writer
        try database.run("DELETE FROM gap WHERE log = ?", [.integer(log.row)])
        for gap in log.ranges.gaps {
            try database.run(
                "INSERT INTO gap VALUES (?, ?, ?)",
                [
                    .integer(log.row), .integer(Int64(clamping: gap.lowerBound)),
                    .integer(Int64(clamping: gap.upperBound)),
                ])
        }
    }
}
