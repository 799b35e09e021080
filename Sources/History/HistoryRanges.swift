public import ChatModel
import Identity

extension History {
    /// What the database holds of the logs for the room, read from its rows and not from memory.
    public func rangesOnDisk() throws(HistoryError) -> [LogID: [EventRange]] {
        try requireOpen()
        var ranges: [LogID: [EventRange]] = [:]
        for (log, state) in logs where log.isForRoom { ranges[log] = try rangesOnDisk(ofRow: state.row) }
        return ranges
    }

    private func rangesOnDisk(ofRow log: Int64) throws(HistoryError) -> [EventRange] {
        var ranges: [(numbers: ClosedRange<UInt64>, lastID: [UInt8])] = []
        try reader.run("SELECT first, last, last_id FROM batch WHERE log = ? ORDER BY last", [.integer(log)]) { row in
            let (first, last) = (UInt64(clamping: row.integer(0)), UInt64(clamping: row.integer(1)))
            guard first <= last else { return true }
            if let end = ranges.last?.numbers, first <= end.upperBound + 1 {
                ranges[ranges.count - 1] = (min(end.lowerBound, first)...last, row.blob(2))
            } else {
                ranges.append((first...last, row.blob(2)))
            }
            return true
        }
        return ranges.compactMap { range in
            Bytes32(range.lastID).map { EventRange(numbers: range.numbers, lastID: EventID($0)) }
        }
    }

    /// The id of one event, computed from its row; `nil` if we don't hold it.
    public func id(of number: UInt64, in log: LogID) throws(HistoryError) -> EventID? {
        try requireOpen()
        guard let row = logs[log]?.row else { return nil }
        return try storedBatch(in: reader, covering: number, of: row).flatMap { stored in
            stored.batch.numbers.contains(number) ? stored.batch.id(of: number) : nil
        }
    }

    /// Whether the log's author gave one number to two events.
    public func isForked(_ log: LogID) -> Bool { forked.contains(Life(log)) }
}
