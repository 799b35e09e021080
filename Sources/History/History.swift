public import ChatModel
public import Dispatch
import Identity
import SystemCalls

/// The log of every author in one room, on disk (docs/protocol.md, "Events, ids, seals").
///
/// Confined to ``queue``: call everything there. Nothing that returned is lost to a crash or a power cut (SQLite's
/// synchronous=FULL).
///
/// `@unchecked`: every method checks that it runs on ``queue``, and touches the state only there.
public final class History: @unchecked Sendable {
    /// How far ahead of our clock an event's may be before it is shown where it arrived, in milliseconds.
    public static let maximumClockLead: UInt64 = 10 * 60 * 1_000

    /// A log that we hold something of.
    struct LogState {
        /// In the table log.
        var row: Int64
        var head: LogHead
        /// The row of its newest batch.
        var newestRow: Int64
        /// The latest clock of its events, as far as it is believed; of those of before the start, that of the last batch.
        var latest = HybridTime(value: 0)
    }

    /// An author's incarnation.
    struct Life: Hashable {
        var author: PeerID
        var incarnation: Incarnation

        init(_ log: LogID) {
            author = log.author
            incarnation = log.incarnation
        }
    }

    public let queue: DispatchQueue
    /// Where own events go.
    public internal(set) var ownLog: LogID

    let file: DatabaseFile
    let birth: DatabaseFile.Birth
    let room: RoomID
    let key: SigningKey
    var writer: Database
    var reader: Database
    var logs: [LogID: LogState] = [:]
    /// Which log a row of the table log is.
    var logIDs: [Int64: LogID] = [:]
    /// Incarnations whose author gave one number to two events.
    var forked: Set<Life> = []
    /// The last batch row whose events are in the table run; ``allRows`` where each is entered as it is stored.
    var ordered: Int64 = 0
    /// The last batch row whose events are in the table tags.
    var tagged: Int64 = 0
    var newestRow: Int64 = 0
    /// Whether what is derived was found to point elsewhere than it says.
    var isIndexWrong = false
    /// Rows of the table batch that aren't what was stored; they are neither shown nor passed on.
    private(set) var damagedRows: Set<Int64> = []
    /// Told one line about each trouble with the disk, on ``queue``.
    public var report: (String) -> Void = { _ in }
    /// How many events are in no segment of the table tags.
    var untaggedCount = 0
    /// Those of the newest rows that will go there.
    var untagged = UntaggedEvents()
    /// How many events make a segment.
    var segmentLength = 16_384
    /// What opening anew after a failure has to wait for and to go by.
    var recovery = Recovery()
    private var isClosed = false

    init(
        _ file: DatabaseFile, birth: DatabaseFile.Birth, writer: Database, reader: Database, room: RoomID,
        key: SigningKey, queue: DispatchQueue
    ) {
        self.file = file
        self.birth = birth
        self.writer = writer
        self.reader = reader
        self.room = room
        self.key = key
        self.queue = queue
        ownLog = LogID(author: key.peer, incarnation: Incarnation(0))
    }

    /// Chains, seals and commits own events, in as few batches as they fit into.
    ///
    /// - Parameters:
    ///   - drafts: In the order of their numbers. None longer than a batch.
    ///   - new: For each of these whether its nonce was made just now and is never used again: then none is looked for,
    ///     and none is kept.
    /// - Returns: A result for each draft, in their order, and the new batches; both are on disk.
    /// - Throws: Nothing was appended then; after `full` and `busy` it can be tried again.
    public func append(
        _ drafts: [BatchEvent], new: [Bool] = []
    ) throws(HistoryError) -> (results: [AppendResult], batches: [Batch]) {
        try requireWritable()
        let plan = try reader.reading { () throws(HistoryError) in
            try AppendPlan(drafts, new: new) { nonce throws(HistoryError) in try ownEvent(with: nonce) }
        }
        if plan.fresh.isEmpty { return (plan.results(ids: [], after: 0), []) }
        let head = logs[ownLog]?.head ?? LogHead(last: 0, lastID: .none)
        let batches = plan.sealed(in: ownLog, of: room, after: head, with: key)
        try write { change throws(HistoryError) in
            for batch in batches {
                try insert(batch, &change)
                try keepNonces(of: batch, in: change.newestRow, after: head.last, plan)
            }
        }
        return (plan.results(ids: batches.flatMap(\.ids), after: head.last), batches)
    }

    private func keepNonces(
        of batch: Batch, in row: Int64, after last: UInt64, _ plan: AppendPlan
    ) throws(HistoryError) {
        let places = batch.events.indices.filter { !plan.isNew[Int(batch.first - last) - 1 + $0] }
        try keepNonces(of: batch, at: places, in: row)
    }

    /// So that a client which sends again is told what became of it.
    func keepNonces(of batch: Batch, at places: [Int], in row: Int64) throws(HistoryError) {
        try writer.run("INSERT OR IGNORE INTO nonce VALUES (?, ?, ?)", times: places.count) { index, values in
            values.bind(batch.events[places[index]].nonce.bytes, at: 1)
            values.bind(row, at: 2)
            values.bind(Int64(places[index]), at: 3)
        }
    }

    /// The own event that a nonce was given to, in any incarnation.
    private func ownEvent(with nonce: Nonce) throws(HistoryError) -> (id: EventID, event: BatchEvent)? {
        let place = try reader.first(
            "SELECT batch, place FROM nonce WHERE nonce = ?", [.blob(nonce.bytes)],
            { (row: $0.integer(0), index: Int($0.integer(1))) })
        guard let place, let batch = try storedBatch(row: place.row)?.batch,
            batch.events.indices.contains(place.index)
        else { return nil }
        return (batch.ids[place.index], batch.events[place.index])
    }

    /// Ends all reading and writing; later calls fail or return nothing.
    public func close() {
        dispatchPrecondition(condition: .onQueue(queue))
        isClosed = true
        reader.close()
        writer.close()
    }

    // MARK: - Writing

    /// What a transaction changes of the state in memory, once it is committed.
    struct Change {
        var logs: [LogID: LogState] = [:]
        var forked: Set<Life> = []
        var ownLog: LogID
        var newestRow: Int64
        var entries: [UntaggedEvents.Entry] = []
    }

    /// Runs one transaction, and takes over what it changed after the commit.
    func write<Result>(
        _ body: (inout Change) throws(HistoryError) -> Result
    ) throws(HistoryError) -> Result {
        var change = Change(ownLog: ownLog, newestRow: newestRow)
        let result = try writer.transaction { () throws(HistoryError) in try body(&change) }
        logs.merge(change.logs) { _, new in new }
        forked.formUnion(change.forked)
        ownLog = change.ownLog
        untagged.add(change.entries, ofRowsAfter: newestRow, upTo: change.newestRow)
        newestRow = change.newestRow
        untaggedCount += change.entries.count
        bringTagsCurrent()
        return result
    }

    func state(of log: LogID, _ change: Change) -> LogState? { change.logs[log] ?? logs[log] }

    /// Adds a batch that continues its log, or begins it.
    func insert(_ batch: Batch, _ change: inout Change) throws(HistoryError) {
        let known = state(of: batch.log, change)
        let log = if let known { known.row } else { try insert(batch.log) }
        let arrived = Self.now()
        let fresh = (known?.head.last ?? 0) + 1
        let row = try writer.insert(
            "INSERT INTO batch (log, first, fresh, last, last_id, arrived, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(log), .integer(Int64(clamping: batch.first)),
                .integer(Int64(clamping: fresh)), .integer(Int64(clamping: batch.last)),
                .blob(batch.lastID.digest.bytes), .integer(Int64(clamping: arrived)), .blob(batch.bytes),
            ])
        let stored = StoredBatch(row: row, fresh: fresh, arrived: arrived, batch: batch)
        var latest = known?.latest ?? HybridTime(value: 0)
        try enter(stored, after: &latest)
        change.entries += stored.entries
        change.logs[batch.log] = LogState(
            row: log, head: LogHead(last: batch.last, lastID: batch.lastID), newestRow: row, latest: latest)
        change.newestRow = row
    }

    private func insert(_ log: LogID) throws(HistoryError) -> Int64 {
        let row = try writer.insert(
            "INSERT INTO log (author, incarnation, audience) VALUES (?, ?, ?)",
            [.blob(log.author.bytes), .blob(log.incarnation.bytes), .blob(log.audience.bytes)])
        logIDs[row] = log
        return row
    }

    // MARK: - Whether it can be used

    /// How many stored batches are damaged, of those that were looked at.
    public var damagedBatches: Int {
        dispatchPrecondition(condition: .onQueue(queue))
        return damagedRows.count
    }

    func noteDamage(_ row: Int64) {
        guard damagedRows.insert(row).inserted else { return }
        report("\(file.path) is damaged in row \(row): what was said there is neither shown nor passed on")
    }

    func requireOpen() throws(HistoryError) {
        dispatchPrecondition(condition: .onQueue(queue))
        if isClosed { throw .cannotOpen("\(file.path) is closed") }
        if reader.isClosed { try openAnew() }
    }

    /// Refuses writing to a file that is no longer the one there; after a failure that leaves open what is on the disk,
    /// opens it anew first.
    func requireWritable() throws(HistoryError) {
        try requireOpen()
        guard let now = try? FileBirth(ofFileAt: file.path), now == birth.file else {
            throw .damaged("write \(file.path): the file was removed or replaced while in use; start again")
        }
        if writer.isBroken || writer.isClosed { try openAnew() }
    }
}

extension Nonce {
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: value)
        return bytes
    }
}
