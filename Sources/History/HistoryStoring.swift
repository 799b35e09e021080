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
        let head = state(of: batch.log, change)?.head ?? LogHead(last: 0, lastID: .none)
        if batch.first > head.last + 1 { return .gap(expected: head.last + 1) }
        if try contradicts(batch, state(of: batch.log, change)) {
            try flag(batch, &change)
            return .forked
        }
        if batch.last <= head.last { return .known }
        try insert(batch, &change)
        if batch.log.author == key.peer {
            try keepNonces(of: batch, at: Array(batch.events.indices), in: change.newestRow)
        }
        if batch.log == change.ownLog { try openIncarnation(&change) }
        return .stored(new: head.last + 1...batch.last)
    }

    /// Whether a batch that continues or overlaps our log has another id at the last number that both have.
    ///
    /// Equal there, it is equal before, because each id is a hash over its predecessor's.
    private func contradicts(_ batch: Batch, _ log: LogState?) throws(HistoryError) -> Bool {
        guard let log else { return false }
        if batch.last >= log.head.last { return batch.id(of: log.head.last) != log.head.lastID }
        let ours = try storedBatch(in: writer, covering: batch.last, of: log.row)?.batch.id(of: batch.last)
        return ours != nil && ours != batch.lastID
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
            let (first, last) = (UInt64(clamping: row.integer(0)), UInt64(clamping: row.integer(1)))
            if first > numbers.upperBound || last < first { return false }
            let served = ServedRow(numbers: first...last, lastID: row.blob(2), bytes: row.blob(3))
            room -= served.bytes.count
            if room < 0, !rows.isEmpty { return false }
            rows.append(served)
            return last < numbers.upperBound
        }
        return try joined(rows, of: log)
    }

    /// A row of the table batch as it goes to a peer.
    private struct ServedRow {
        var numbers: ClosedRange<UInt64>
        var lastID: [UInt8]
        var bytes: [UInt8]
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
            if isIntact(batch.bytes, of: log, lastID: parts.last?.lastID) {
                batches.append(batch.bytes)
                continue
            }
            batches += parts.prefix { isIntact($0.bytes, of: log, lastID: $0.lastID) }.map(\.bytes)
            if batches.isEmpty { throw .damaged("read \(file.path): a batch is not what was stored") }
            break
        }
        return batches
    }

    private func isIntact(_ bytes: [UInt8], of log: LogID, lastID: [UInt8]?) -> Bool {
        guard let batch = try? Batch(stored: bytes, in: room) else { return false }
        return batch.log == log && batch.lastID.digest.bytes == lastID && batch.isSealed(in: room)
    }
}
