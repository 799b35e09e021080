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
        guard (try? requireOpen()) != nil, let log = logs[batch.log]?.row else { return nil }
        let row = try? reader.first(
            "SELECT row FROM batch WHERE log = ? AND last = ?", [.integer(log), .integer(Int64(clamping: batch.last))],
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
        bringIndexCurrent()
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
        var lines = try indexedLines(before: position, count, filter)
        if isIndexWrong {
            isIndexWrong = false
            try rebuildIndex()
            lines = try indexedLines(before: position, count, filter)
        }
        if indexed < newestRow {
            lines += try unindexedLines().filter { line in
                position.map { line.position < $0 } != false && line.isTaken(by: filter)
            }
            lines.sort { $0.position < $1.position }
        }
        return try withOutcomes(lines.suffix(max(count, 0)))
    }

    private func indexedLines(
        before position: StoredLine.Position?, _ count: Int, _ filter: LineFilter
    ) throws(HistoryError) -> [StoredLine] {
        let place = position == nil ? [] : ["(clock, author, number, tag) < (?, ?, ?, ?)"]
        let bounds = filter.conditions
        let conditions = place + bounds.map(\.sql) + ["kind IN \(Self.shownKinds)"]
        let places = try reader.all(
            """
            SELECT batch, place, clock, tag FROM line WHERE \(conditions.joined(separator: " AND "))
            ORDER BY clock DESC, author DESC, number DESC, tag DESC LIMIT ?
            """,
            (position?.values ?? []) + bounds.map(\.value) + [.integer(Int64(max(count, 0)))], { Place(ordered: $0) })
        return try lines(at: places).reversed()
    }

    /// Where an event is.
    private struct Place {
        var batch: Int64
        var index: Int
        /// As in the columns clock and tag; `nil` if it wasn't asked for.
        var order: (clock: Int64, tag: Int64)?

        init(_ row: Row) {
            batch = row.integer(0)
            index = Int(clamping: row.integer(1))
        }

        init(ordered row: Row) {
            self.init(row)
            order = (row.integer(2), row.integer(3))
        }

        func agrees(with line: StoredLine) -> Bool {
            order.map { $0 == (Int64(ordering: line.position.clock.value), line.id.tag) } ?? true
        }
    }

    /// Leaves out those whose batch can't be read any more, and those that the index has mixed up.
    private func lines(at places: [Place]) throws(HistoryError) -> [StoredLine] {
        var batches: [Int64: StoredBatch] = [:]
        var lines: [StoredLine] = []
        for place in places {
            if batches[place.batch] == nil { batches[place.batch] = try storedBatch(row: place.batch) }
            guard let stored = batches[place.batch] else { continue }
            let line = stored.places.contains(place.index) ? stored.line(at: place.index) : nil
            if let line, place.agrees(with: line) { lines.append(line) } else { isIndexWrong = true }
        }
        return lines
    }

    private func find(_ id: EventID) throws(HistoryError) -> StoredLine? {
        try requireOpen()
        bringIndexCurrent()
        let places = try reader.all(
            "SELECT batch, place FROM line WHERE tag = ?", [.integer(id.tag)], { Place($0) })
        var found = try lines(at: places)
        if indexed < newestRow { found += try unindexedLines() }
        return try withOutcomes(found.filter { $0.id == id }).first
    }

    private func withOutcomes(_ lines: some Sequence<StoredLine>) throws(HistoryError) -> [StoredLine] {
        try lines.map { line throws(HistoryError) in
            var line = line
            if line.kind == .image { line.image = try outcome(of: line.id) }
            return line
        }
    }

    // MARK: - The order index

    private static let shownKinds = "(\(EventKind.shown.map { "\($0.number)" }.joined(separator: ", ")))"
    private static let indexingStep = 128  // batch rows a transaction

    /// Enters the events of new rows into the table line.
    ///
    /// A failure is no error: reading goes on with ``unindexedLines()``, and the next call tries again.
    func bringIndexCurrent() {
        if (try? requireWritable()) == nil { return }
        while indexed < newestRow {
            do throws(HistoryError) { try indexSomeRows() } catch { return }
        }
        unindexedEvents = 0
    }

    /// Throws away what is derived, and derives it again.
    func rebuildIndex() throws(HistoryError) {
        try requireWritable()
        try writer.transaction { () throws(HistoryError) in
            try writer.run("DELETE FROM line")
            try writer.run("UPDATE birth SET indexed = 0")
        }
        indexed = 0
        bringIndexCurrent()
    }

    private func indexSomeRows() throws(HistoryError) {
        let last = min(indexed + Int64(Self.indexingStep), newestRow)
        let known = unindexed.lines(ofRowsAfter: indexed, upTo: last)
        let lines = if let known { known } else { try linesFromDisk(after: indexed, upTo: last) }
        try writer.transaction { () throws(HistoryError) in
            try index(lines)
            try writer.run("UPDATE birth SET indexed = ?", [.integer(last)])
        }
        indexed = last
        unindexed.forget(upTo: last)
    }

    private func linesFromDisk(
        after first: Int64, upTo last: Int64
    ) throws(HistoryError) -> ArraySlice<UnindexedLines.Line> {
        let batches = try reader.all(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row > ? AND row <= ? ORDER BY row",
            [.integer(first), .integer(last)], { storedBatch($0) })
        var lines: [UnindexedLines.Line] = []
        for stored in batches.compactMap(\.self) { lines += stored.places.map { UnindexedLines.Line(stored, $0) } }
        return lines[...]
    }

    private func index(_ lines: ArraySlice<UnindexedLines.Line>) throws(HistoryError) {
        try writer.run(
            "INSERT OR REPLACE INTO line (clock, author, number, tag, batch, place, kind) VALUES (?, ?, ?, ?, ?, ?, ?)",
            times: lines.count
        ) { index, values in
            let line = lines[lines.startIndex + index]
            values.bind(Int64(ordering: line.clock.value), at: 1)
            values.bind(line.author.key, at: 2)
            values.bind(Int64(clamping: line.number), at: 3)
            values.bind(line.id.tag, at: 4)
            values.bind(line.row, at: 5)
            values.bind(Int64(line.place), at: 6)
            values.bind(Int64(line.kind.number), at: 7)
        }
        for line in lines where line.kind == .image {
            try writer.run(
                """
                INSERT INTO image (id, batch, place) VALUES (?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, place = excluded.place
                """,
                [.blob(line.id.digest.bytes), .integer(line.row), .integer(Int64(line.place))])
        }
    }

    private func unindexedLines() throws(HistoryError) -> [StoredLine] {
        try reader.all(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row > ? AND row <= ? ORDER BY row",
            [.integer(indexed), .integer(newestRow)], { storedBatch($0)?.lines ?? [] }
        ).flatMap(\.self)
    }

    func latestClock() throws(HistoryError) -> HybridTime {
        let newest = try reader.first("SELECT clock FROM line ORDER BY clock DESC LIMIT 1", [], { $0.integer(0) })
        let indexed = newest.map { HybridTime(value: $0.unordered) } ?? HybridTime(value: 0)
        return try unindexedLines().map(\.position.clock).reduce(indexed, max)
    }

    func unfinishedImages() throws(HistoryError) -> [StoredLine] {
        let places = try reader.all(
            "SELECT batch, place FROM image WHERE outcome IS NULL AND batch NOT NULL ORDER BY batch, place", [],
            { Place($0) })
        let pending = try withOutcomes(unindexedLines()).filter { $0.kind == .image && $0.image == nil }
        return try lines(at: places) + pending
    }
}

extension StoredLine.Position {
    /// As in the columns clock, author, number and tag.
    fileprivate var values: [SQLValue] {
        [
            .integer(Int64(ordering: clock.value)), .blob(author.bytes), .integer(Int64(clamping: number)),
            .integer(id.tag),
        ]
    }
}

extension EventID {
    /// The first eight bytes, which sort as ids do.
    fileprivate var tag: Int64 {
        Int64(ordering: digest.withBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) })
    }
}
