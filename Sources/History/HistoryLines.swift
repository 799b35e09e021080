public import ChatModel
import Identity

extension History {
    /// The newest lines in screen order, oldest first.
    ///
    /// Also when nothing can be written: the order index is only a help.
    public func lines(last count: Int, _ filter: LineFilter = LineFilter()) throws(HistoryError) -> [StoredLine] {
        try lines(before: nil, count, filter)
    }

    /// The lines that stand directly before a position, oldest first.
    public func lines(
        before position: StoredLine.Position, count: Int, _ filter: LineFilter = LineFilter()
    ) throws(HistoryError) -> [StoredLine] {
        try lines(before: position, count, filter)
    }

    /// Where the newest event is in the order of arrival; 0 while there is none.
    public var newestArrival: Int64 { newestRow << 8 | (newestRow > 0 ? 255 : 0) }

    /// Where a batch's first event is in the order of arrival; the others follow it.
    ///
    /// `nil` for one that isn't stored so.
    public func arrival(of batch: Batch) -> Int64? {
        guard (try? requireOpen()) != nil, let log = logs[batch.log] else { return nil }
        if log.ranges.last == batch.last { return log.newestRow << 8 }
        let row = try? reader.first(
            "SELECT row FROM batch WHERE log = ? AND last = ?",
            [.integer(log.row), .integer(Int64(clamping: batch.last))],
            { $0.integer(0) })
        return row.flatMap { $0 }.map { $0 << 8 }
    }

    /// What came after an arrival, in the order in which it came.
    public func lines(
        after arrival: Int64, count: Int, _ filter: LineFilter = LineFilter()
    ) throws(HistoryError) -> [StoredLine] {
        try requireOpen()
        var lines: [StoredLine] = []
        try reader.run(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row >= ? ORDER BY row", [.integer(arrival >> 8)]
        ) { row throws(HistoryError) in
            if lines.count >= count { return false }
            lines += storedBatch(row)?.lines.filter { $0.arrival > arrival && $0.isTaken(by: filter) } ?? []
            return true
        }
        return try withOutcomes(lines.prefix(max(count, 0)))
    }

    /// The line of an event that we hold; `nil` also when it can't be read.
    public func line(_ id: EventID) -> StoredLine? { try? find(id) }

    /// The lines of a batch that is stored, such as one just appended.
    public func lines(of batch: Batch) throws(HistoryError) -> [StoredLine] {
        try requireOpen()
        guard let log = logs[batch.log]?.row,
            let stored = try storedBatch(in: reader, covering: batch.last, of: log), stored.batch.last == batch.last
        else { return [] }
        return try withOutcomes(stored.lines)
    }

    private func lines(
        before position: StoredLine.Position?, _ count: Int, _ filter: LineFilter
    ) throws(HistoryError) -> [StoredLine] {
        try requireOpen()
        bringOrderCurrent()
        if filter.isEmpty { return try page(before: position, count, filter) }
        var found: [StoredLine] = []
        var position = position
        while found.count < count {
            let page = try page(before: position, max(count, Self.leastPage), filter)
            found = page.filter { $0.isTaken(by: filter) } + found
            guard page.count >= max(count, Self.leastPage) else { break }
            position = page.first?.position
        }
        return Array(found.suffix(max(count, 0)))
    }

    private static let leastPage = 64  // lines looked through at once where some may be left out

    /// Lines within the filter's bounds, of which some may not be wanted.
    private func page(
        before position: StoredLine.Position?, _ count: Int, _ filter: LineFilter
    ) throws(HistoryError) -> [StoredLine] {
        var lines = try orderedLines(before: position, count, filter)
        if isIndexWrong {
            isIndexWrong = false
            try rebuildIndex()
            lines = try orderedLines(before: position, count, filter)
        }
        if ordered < newestRow {
            lines += try unorderedLines().filter { line in
                position.map { line.position < $0 } != false && line.isTaken(by: filter)
            }
            lines.sort { $0.position < $1.position }
        }
        return try withOutcomes(lines.suffix(max(count, 0)))
    }

    private func find(_ id: EventID) throws(HistoryError) -> StoredLine? {
        try requireOpen()
        let found = try lines(at: places(of: id)).filter { $0.id == id }
        return try withOutcomes(found).first
    }

    /// Leaves out those whose batch can't be read any more, and those that an index has mixed up.
    private func lines(at places: [EventPlace]) throws(HistoryError) -> [StoredLine] {
        var batches: [Int64: StoredBatch] = [:]
        var lines: [StoredLine] = []
        for place in places {
            if batches[place.row] == nil { batches[place.row] = try storedBatch(row: place.row) }
            guard let stored = batches[place.row] else { continue }
            if stored.places.contains(place.index) {
                lines.append(stored.line(at: place.index))
            } else {
                isIndexWrong = true
            }
        }
        return lines
    }

    private func withOutcomes(_ lines: some Sequence<StoredLine>) throws(HistoryError) -> [StoredLine] {
        try lines.map { line throws(HistoryError) in
            var line = line
            line.missing = logs[line.log]?.ranges.missingCount(before: line.number) ?? 0
            if line.kind == .image { line.image = try outcome(of: line.id) }
            return line
        }
    }

    func unorderedLines() throws(HistoryError) -> [StoredLine] {
        if ordered >= newestRow { return [] }
        return try reader.all(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row > ? AND row <= ? ORDER BY row",
            [.integer(ordered), .integer(newestRow)], { storedBatch($0)?.lines ?? [] }
        ).flatMap(\.self)
    }

    func unfinishedImages() throws(HistoryError) -> [StoredLine] {
        let places = try reader.all(
            "SELECT batch, place FROM image WHERE outcome IS NULL AND batch NOT NULL ORDER BY batch, place", [],
            { EventPlace(row: $0.integer(0), index: Int(clamping: $0.integer(1))) })
        let pending = try withOutcomes(unorderedLines()).filter { $0.kind == .image && $0.image == nil }
        return try lines(at: places) + pending
    }
}

/// Where an event is.
struct EventPlace {
    var row: Int64
    /// In its batch.
    var index: Int
}
