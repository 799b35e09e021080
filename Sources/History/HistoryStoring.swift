public import ChatModel
import Identity

extension History {
    /// Commits verified batches from peers, all or none.
    ///
    /// A batch may overlap what is there. One whose chain differs from ours proves that its author gave one number to two
    /// events: it is kept as the proof, and nothing more of that incarnation is taken. When somebody brings own events
    /// that we lack, this database is older than what was said under its name, and ``ownLog`` becomes a new one.
    ///
    /// - Returns: A result for each batch, in their order.
    public func store(_ batches: [Batch]) throws(HistoryError) -> [StoreResult] {
        try requireWritable()
        return try write { change throws(HistoryError) in
            var results: [StoreResult] = []
            for batch in batches { results.append(try store(batch, &change)) }
            return results
        }
    }

    private func store(_ batch: Batch, _ change: inout Change) throws(HistoryError) -> StoreResult {
        let life = Life(batch.log)
        if forked.contains(life) || change.forked.contains(life) { return .forked }
        let known = state(of: batch.log, change)
        if let known, try contradicts(batch, known) {
            try flag(batch, &change)
            return .forked
        }
        let ranges = known?.ranges ?? EventRanges()
        let missing = ranges.missing(in: batch.numbers)
        if missing.isEmpty { return .known }
        if ranges.countAdding(batch.numbers) > EventRanges.maximumCount { return .gap }
        let news = try insert(batch, missing, &change)
        if batch.log.author == key.peer {
            try keepNonces(of: batch, at: Array(batch.events.indices), in: change.newestRow)
        }
        if batch.log == change.ownLog { try openIncarnation(&change) }
        return .stored(news)
    }

    /// Whether a batch has another id than we at the last number that it has in common with a range, or next to one.
    ///
    /// Equal there, it is equal before, because each id is a hash over its predecessor's. An event names its predecessor,
    /// so one that we don't hold is known by the event behind it.
    private func contradicts(_ batch: Batch, _ log: LogState) throws(HistoryError) -> Bool {
        for range in log.ranges.all {
            let (first, last) = (range.numbers.lowerBound, range.numbers.upperBound)
            guard first - 1 <= batch.last, batch.first - 1 <= last else { continue }
            let common = min(batch.last, last)
            let ours =
                common == last
                ? range.lastID
                : try storedBatch(in: writer, covering: max(common, first), of: log.row)?.batch.id(of: common)
            if let ours, ours != batch.id(of: common) { return true }
        }
        return false
    }

    private func flag(_ proof: Batch, _ change: inout Change) throws(HistoryError) {
        try writer.run(
            "INSERT OR IGNORE INTO fork VALUES (?, ?, ?)",
            [.blob(proof.log.author.bytes), .blob(proof.log.incarnation.bytes), .blob(proof.bytes)])
        change.forked.insert(Life(proof.log))
        if Life(proof.log) == Life(change.ownLog) { try openIncarnation(&change) }
    }

    /// Batches that cover a range from its front, joined under as few seals as they fit under.
    ///
    /// The first holds the lowest number, the last may run past the highest. Their length together is at most `bytes`, but
    /// one is always returned.
    ///
    /// - Returns: Nothing if we don't hold the lowest number.
    public func batches(
        of log: LogID, covering numbers: ClosedRange<UInt64>, atMost bytes: Int
    ) throws(HistoryError) -> [[UInt8]] {
        try requireOpen()
        guard let row = logs[log]?.row else { return [] }
        var rows: [ServedRow] = []
        var room = bytes
        try reader.run(
            "SELECT first, last, last_id, bytes FROM batch WHERE log = ? AND last >= ? AND row <= ? ORDER BY last",
            [.integer(row), .integer(Int64(clamping: numbers.lowerBound)), .integer(newestRow)]
        ) { row throws(HistoryError) in
            guard let served = ServedRow(row) else { return false }
            // What comes with another row's batch is in it already.
            if let end = rows.last?.numbers.upperBound, served.numbers.upperBound <= end { return true }
            let next = rows.last.map { $0.numbers.upperBound + 1 } ?? numbers.lowerBound
            if served.numbers.lowerBound > min(next, numbers.upperBound) { return false }
            room -= served.bytes.count
            if room < 0, !rows.isEmpty { return false }
            rows.append(served)
            return served.numbers.upperBound < numbers.upperBound
        }
        return try joined(rows, of: log)
    }

    /// A row of the table batch as it goes to a peer.
    private struct ServedRow {
        /// Of the batch; more than are the row's where other rows had some of them before.
        var numbers: ClosedRange<UInt64>
        /// The last that is the row's, and its id.
        var last: UInt64
        var lastID: [UInt8]
        var bytes: [UInt8]

        /// Takes a row with the columns first, last, last_id and bytes; `nil` if it makes no sense.
        init?(_ row: Row) {
            (last, lastID, bytes) = (UInt64(clamping: row.integer(1)), row.blob(2), row.blob(3))
            let first = UInt64(clamping: row.integer(0))
            guard let count = BatchJoiner.count(in: bytes), count > 0, first >= 1, first <= last,
                last <= Batch.maximumNumber
            else { return nil }
            numbers = first...first + UInt64(count - 1)
        }
    }

    /// Joins rows up to the first whose bytes are no longer those that were stored, or that only a damaged index takes
    /// for the log's.
    private func joined(_ rows: [ServedRow], of log: LogID) throws(HistoryError) -> [[UInt8]] {
        var joiner = BatchJoiner()
        for row in rows { joiner.add(row.bytes, numbers: row.numbers) }
        var batches: [[UInt8]] = []
        var rest = rows[...]
        for batch in joiner.joined {
            let parts = rest.prefix(batch.parts)
            rest = rest.dropFirst(batch.parts)
            if let last = parts.last, isIntact(batch.bytes, last, of: log) {
                batches.append(batch.bytes)
                continue
            }
            batches += parts.prefix { isIntact($0.bytes, $0, of: log) }.map(\.bytes)
            if batches.isEmpty { throw .damaged("read \(file.path): a batch is not what was stored") }
            break
        }
        return batches
    }

    private func isIntact(_ bytes: [UInt8], _ row: ServedRow, of log: LogID) -> Bool {
        guard let batch = try? Batch(stored: bytes, in: room) else { return false }
        return batch.log == log && batch.id(of: row.last)?.digest.bytes == row.lastID && batch.isSealed(in: room)
    }
}
