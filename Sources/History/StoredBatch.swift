import ChatModel
import Identity

/// A row of the table batch.
struct StoredBatch {
    var row: Int64
    /// Those that were new with it: no other row has any of them.
    var numbers: ClosedRange<UInt64>
    /// In milliseconds since 1970.
    var arrived: UInt64
    var batch: Batch

    static let columns = "row, log, fresh, arrived, last_id, bytes, first, last"

    /// The events that came with it and are shown.
    var lines: [StoredLine] {
        places.compactMap { place in batch.events[place].kind.isShown ? line(at: place) : nil }
    }

    /// Where in the batch the events are that came with it.
    var places: Range<Int> {
        let first = Int(numbers.lowerBound - batch.first)
        return first..<first + numbers.count
    }

    /// Where the first of them is in the order of arrival; the others follow it.
    var arrival: Int64 { row << 8 | Int64(places.lowerBound) }

    var range: EventRange { EventRange(numbers: numbers, lastID: batch.id(of: numbers.upperBound) ?? .none) }

    /// Between which clocks they stand.
    var clocks: ClosedRange<HybridTime> {
        let clocks = places.map { believed(batch.events[$0].clock) }
        return (clocks.min() ?? HybridTime(value: 0))...(clocks.max() ?? HybridTime(value: 0))
    }

    /// The event at a place as a line; how an image's journey ended is left open.
    func line(at place: Int) -> StoredLine {
        let event = batch.events[place]
        return StoredLine(
            id: batch.ids[place], log: batch.log, number: batch.first + UInt64(place), kind: event.kind,
            clock: event.clock, wallTime: event.wallTime, body: event.body, arrival: row << 8 | Int64(place),
            arrived: arrived, position: position(at: place))
    }

    func position(at place: Int) -> StoredLine.Position {
        StoredLine.Position(
            clock: believed(batch.events[place].clock), author: batch.log.author, number: batch.first + UInt64(place),
            id: batch.ids[place])
    }

    /// An event from too far ahead stands where it arrived (docs/protocol.md, "Time").
    private func believed(_ clock: HybridTime) -> HybridTime {
        let limit = HybridTime(milliseconds: arrived + History.maximumClockLead, counter: .max)
        return clock > limit ? HybridTime(milliseconds: arrived) : clock
    }
}

extension EventKind {
    /// The kinds that become lines.
    static let shown = [EventKind.text, .image]
    var isShown: Bool { Self.shown.contains(self) }
}

extension History {
    /// Takes a row with the columns of a ``StoredBatch``.
    ///
    /// - Returns: `nil` if its bytes aren't those that were stored: their ids are computed anew and end in the row's.
    func storedBatch(_ row: Row) -> StoredBatch? {
        let (first, last) = (UInt64(clamping: row.integer(2)), UInt64(clamping: row.integer(7)))
        guard let batch = try? Batch(stored: row.blob(5), in: room), batch.log == logIDs[row.integer(1)],
            first <= last, batch.numbers.contains(first), batch.id(of: last)?.digest.bytes == row.blob(4),
            row.integer(6) == Int64(clamping: batch.first)
        else {
            noteDamage(row.integer(0))
            return nil
        }
        return StoredBatch(
            row: row.integer(0), numbers: first...last, arrived: UInt64(clamping: row.integer(3)), batch: batch)
    }

    func storedBatch(row: Int64) throws(HistoryError) -> StoredBatch? {
        try reader.first(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row = ?", [.integer(row)], { storedBatch($0) }) ?? nil
    }

    /// The row that brought an event.
    func storedBatch(
        in database: Database, covering number: UInt64, of log: Int64
    ) throws(HistoryError) -> StoredBatch? {
        let stored =
            try database.first(
                "SELECT \(StoredBatch.columns) FROM batch WHERE log = ? AND last >= ? ORDER BY last LIMIT 1",
                [.integer(log), .integer(Int64(clamping: number))], { storedBatch($0) }) ?? nil
        return stored.flatMap { $0.numbers.contains(number) ? $0 : nil }
    }
}
