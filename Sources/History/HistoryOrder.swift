import ChatModel
import Identity

/// The transcript's order, by the table run: one row for all neighbours of a batch that follow one another.
extension History {
    /// What ``ordered`` and its column are where each new batch is entered with its commit.
    static let allRows = Int64.max
    private static let orderingStep: Int64 = 128  // batch rows a transaction

    /// The last lines of those before a position, oldest first, as far as they are in the table.
    func orderedLines(
        before position: StoredLine.Position?, _ count: Int, _ filter: LineFilter
    ) throws(HistoryError) -> [StoredLine] {
        var cursors = OrderedRun.spans.indices.map { RunCursor(level: $0, before: position, count, filter) }
        var lines: [StoredLine] = []
        while count > 0 {
            for index in cursors.indices { try cursors[index].load(from: reader) }
            let next = cursors.indices.max { left, right in
                guard let right = cursors[right].first else { return false }
                return cursors[left].first.map { $0.end < right.end } ?? true
            }
            guard let next, let run = cursors[next].first else { break }
            // No line of this run or of those behind it stands behind the first that was found.
            if lines.count >= count, let first = lines.first, run.end < first.position.order { break }
            cursors[next].removeFirst()
            if let position, run.startOrder > position.order { continue }
            lines += try self.lines(of: run).filter { line in position.map { line.position < $0 } ?? true }
            if lines.count >= count {
                lines.sort { $0.position < $1.position }
                lines.removeFirst(lines.count - count)
            }
        }
        return lines.sorted { $0.position < $1.position }
    }

    /// Those of a row, unless its batch can't be read any more or isn't what the row says.
    private func lines(of run: StoredRun) throws(HistoryError) -> [StoredLine] {
        guard let stored = try storedBatch(row: run.row) else { return [] }
        guard let last = run.places.last, stored.places.contains(run.places.lowerBound),
            stored.places.contains(last), stored.position(at: last).order == run.end,
            stored.position(at: run.places.lowerBound).clock == run.start
        else {
            isIndexWrong = true
            return []
        }
        return run.places.map { stored.line(at: $0) }
    }

    // MARK: - Entering

    /// Enters a batch that is being stored, unless batches before it still have to be.
    func enter(
        _ stored: StoredBatch, between latest: HybridTime, and earliest: HybridTime
    ) throws(HistoryError) {
        if ordered == Self.allRows { try enterRuns(of: stored, between: latest, and: earliest) }
    }

    private func enterRuns(
        of stored: StoredBatch, between latest: HybridTime, and earliest: HybridTime
    ) throws(HistoryError) {
        let runs = stored.runs(between: latest, and: earliest)
        try writer.run("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", times: runs.count) {
            index, values in
            let run = runs[index]
            values.bind(Int64(run.level), at: 1)
            values.bind(Int64(ordering: run.end.clock.value), at: 2)
            values.bind(run.end.author.key, at: 3)
            values.bind(Int64(clamping: run.end.number), at: 4)
            values.bind(run.end.id.orderTag, at: 5)
            values.bind(Int64(ordering: run.start.value), at: 6)
            values.bind(stored.row, at: 7)
            values.bind(Int64(run.places.lowerBound), at: 8)
            values.bind(Int64(run.places.count), at: 9)
        }
        for place in stored.places where stored.batch.events[place].kind == .image {
            try writer.run(
                """
                INSERT INTO image (id, batch, place) VALUES (?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, place = excluded.place
                """,
                [.blob(stored.batch.ids[place].digest.bytes), .integer(stored.row), .integer(Int64(place))])
        }
    }

    /// Enters the batches that are not yet in the table run; there are such only after it was thrown away.
    ///
    /// A failure is no error: reading goes on with ``unorderedLines()``, and the next call tries again.
    func bringOrderCurrent() {
        if ordered == Self.allRows || (try? requireWritable()) == nil { return }
        var entered: [Int64: LogState] = [:]
        while ordered < newestRow {
            do throws(HistoryError) { try orderSomeRows(&entered) } catch { return }
        }
        guard (try? mark(ordered: Self.allRows)) != nil else { return }
        for (log, state) in logs {
            // Only if it was seen from its first row on are the clocks those of all of it.
            if let seen = entered[state.row], seen.ranges == state.ranges { logs[log]?.clocks = seen.clocks }
        }
    }

    /// Throws away what is derived, and derives it again.
    func rebuildIndex() throws(HistoryError) {
        try requireWritable()
        try writer.transaction { () throws(HistoryError) in
            try writer.run("DELETE FROM run")
            try writer.run("DELETE FROM tags")
            try writer.run("UPDATE birth SET indexed = 0, ordered = 0")
        }
        ordered = 0
        tagged = 0
        bringOrderCurrent()
    }

    private func orderSomeRows(_ entered: inout [Int64: LogState]) throws(HistoryError) {
        let last = min(ordered + Self.orderingStep, newestRow)
        let batches = try reader.all(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row > ? AND row <= ? ORDER BY row",
            [.integer(ordered), .integer(last)], { ($0.integer(1), storedBatch($0)) })
        try writer.transaction { () throws(HistoryError) in
            for (log, stored) in batches {
                guard let stored else { continue }
                let (state, numbers) = (entered[log] ?? LogState(row: log), stored.numbers)
                try enterRuns(of: stored, between: state.latest(below: numbers), and: state.earliest(above: numbers))
                entered[log, default: state].insert(stored.range, clocks: stored.clocks)
            }
            try writer.run("UPDATE birth SET ordered = ?", [.integer(last)])
        }
        ordered = last
    }

    private func mark(ordered row: Int64) throws(HistoryError) {
        try writer.transaction { () throws(HistoryError) in
            try writer.run("UPDATE birth SET ordered = ?", [.integer(row)])
        }
        ordered = row
    }

    func latestClock() throws(HistoryError) -> HybridTime {
        var latest = try unorderedLines().map(\.position.clock).max() ?? HybridTime(value: 0)
        for level in OrderedRun.spans.indices {
            let clock = try reader.first(
                "SELECT clock FROM run WHERE level = ? ORDER BY clock DESC LIMIT 1", [.integer(Int64(level))],
                { HybridTime(value: $0.integer(0).unordered) })
            latest = max(latest, clock ?? latest)
        }
        return latest
    }
}

/// A row of the table run.
private struct StoredRun {
    var row: Int64
    var places: Range<Int>
    var start: HybridTime
    var end: StoredLine.Order

    /// Before all of its lines, and behind all that stand before them.
    var startOrder: StoredLine.Order {
        let before = UInt64(places.count - 1)
        return StoredLine.Order(
            clock: start, author: end.author, number: end.number - min(before, end.number), tag: .min)
    }

    init?(_ row: Row) {
        guard let author = Bytes32(row.blob(1)) else { return nil }
        end = StoredLine.Order(
            clock: HybridTime(value: row.integer(0).unordered), author: author,
            number: UInt64(clamping: row.integer(2)),
            tag: row.integer(3))
        start = HybridTime(value: row.integer(4).unordered)
        self.row = row.integer(5)
        let place = Int(clamping: row.integer(6))
        guard (0..<Batch.maximumCount).contains(place), (1...Int64(Batch.maximumCount)).contains(row.integer(7)) else {
            return nil
        }
        places = place..<place + Int(row.integer(7))
    }
}

/// Goes back through the runs of one level in the order of their ends, from the last that may reach before a position.
private struct RunCursor {
    private let level: Int
    private let filter: LineFilter
    private let length: Int
    private var last: StoredLine.Order
    private var runs: ArraySlice<StoredRun> = []
    private var isAtEnd = false

    init(level: Int, before position: StoredLine.Position?, _ count: Int, _ filter: LineFilter) {
        self.level = level
        self.filter = filter
        length = min(max(count, 8), 256)
        var clock = position?.clock ?? HybridTime(value: .max)
        if level > 0, clock.value < .max {
            let (reach, isOver) = clock.milliseconds.addingReportingOverflow(OrderedRun.spans[level])
            clock = isOver ? HybridTime(value: .max) : HybridTime(milliseconds: reach, counter: .max)
        }
        last = StoredLine.Order(clock: clock, author: nil, number: 0, tag: 0)
    }

    var first: StoredRun? { runs.first }

    mutating func removeFirst() { runs.removeFirst() }

    mutating func load(from database: Database) throws(HistoryError) {
        guard runs.isEmpty, !isAtEnd else { return }
        let bounds = filter.conditions
        let conditions = ["level = ?", "(clock, author, number, tag) < (?, ?, ?, ?)"] + bounds.map(\.sql)
        var count = 0
        try database.run(
            """
            SELECT clock, author, number, tag, start, batch, place, count FROM run
            WHERE \(conditions.joined(separator: " AND "))
            ORDER BY clock DESC, author DESC, number DESC, tag DESC LIMIT ?
            """,
            [.integer(Int64(level))] + last.values + bounds.map(\.value) + [.integer(Int64(length))]
        ) { row throws(HistoryError) in
            count += 1
            if let run = StoredRun(row) { runs.append(run) }
            return true
        }
        isAtEnd = count < length
        if let end = runs.last?.end { last = end } else { isAtEnd = true }
    }
}

extension StoredLine {
    /// A position as far as the table run holds it, in its order.
    struct Order: Comparable {
        var clock: HybridTime
        /// `nil` stands behind all.
        var author: Bytes32?
        var number: UInt64
        var tag: Int64

        static func < (left: Order, right: Order) -> Bool {
            if left.clock != right.clock { return left.clock < right.clock }
            if left.author != right.author {
                guard let author = left.author else { return false }
                return right.author.map { author < $0 } ?? true
            }
            return (left.number, left.tag) < (right.number, right.tag)
        }

        /// As in the columns clock, author, number and tag.
        var values: [SQLValue] {
            [
                .integer(Int64(ordering: clock.value)),
                .blob(author?.bytes ?? Array(repeating: 0xFF, count: 33)),
                .integer(Int64(clamping: number)), .integer(tag),
            ]
        }
    }
}

extension StoredLine.Position {
    var order: StoredLine.Order {
        StoredLine.Order(
            clock: clock, author: author.key, number: UInt64(clamping: Int64(clamping: number)), tag: id.orderTag)
    }
}

extension EventID {
    /// The first eight bytes, which sort as ids do.
    fileprivate var orderTag: Int64 {
        Int64(ordering: digest.withBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) })
    }
}
