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
        var ranges = EventRanges()
        /// The row that its highest number is in.
        var newestRow: Int64
        /// Between which clocks the events of each range are, as far as they are believed; of those of before the start,
        /// what the batches at its ends say.
        var clocks: [ClosedRange<HybridTime>] = []

        /// One that we hold nothing of yet.
        init(row: Int64, newestRow: Int64 = 0) {
            self.row = row
            self.newestRow = newestRow
        }

        /// How late what is below these numbers is.
        func latest(below numbers: ClosedRange<UInt64>) -> HybridTime {
            zip(ranges.all, clocks).filter { $0.0.numbers.lowerBound < numbers.lowerBound }.map(\.1.upperBound).max()
                ?? HybridTime(value: 0)
        }

        /// How early what is above these numbers is.
        func earliest(above numbers: ClosedRange<UInt64>) -> HybridTime {
            zip(ranges.all, clocks).filter { $0.0.numbers.lowerBound > numbers.upperBound }.map(\.1.lowerBound).min()
                ?? HybridTime(value: .max)
        }

        mutating func insert(_ range: EventRange, clocks new: ClosedRange<HybridTime>) {
            let before = zip(ranges.all, clocks) + [(range, new)]
            ranges.insert(range)
            clocks = ranges.all.map { range in
                let parts = before.filter { $0.0.numbers.overlaps(range.numbers) }.map(\.1)
                let (earliest, latest) = (parts.map(\.lowerBound).min(), parts.map(\.upperBound).max())
                return (earliest ?? new.lowerBound)...(latest ?? new.upperBound)
            }
        }
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
        let head = logs[ownLog].map { LogHead($0.ranges) } ?? LogHead(last: 0, lastID: .none)
        let batches = plan.sealed(in: ownLog, of: room, after: head, with: key)
        try write { change throws(HistoryError) in
            for batch in batches {
                _ = try insert(batch, [batch.numbers], &change)
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

    /// Adds a batch for those of its numbers that we don't have, with a row for each run of these.
    func insert(
        _ batch: Batch, _ missing: [ClosedRange<UInt64>], _ change: inout Change
    ) throws(HistoryError) -> [NewEvents] {
        var state: LogState
        if let known = self.state(of: batch.log, change) {
            state = known
        } else {
            state = LogState(row: try insert(batch.log))
        }
        let gaps = state.ranges.gaps
        let arrived = Self.now()
        var news: [NewEvents] = []
        for numbers in missing {
            let stored = StoredBatch(
                row: try insert(batch, for: numbers, of: state.row, arrived), numbers: numbers, arrived: arrived,
                batch: batch
            )
            try enter(stored, between: state.latest(below: numbers), and: state.earliest(above: numbers))
            state.insert(stored.range, clocks: stored.clocks)
            if numbers.upperBound == state.ranges.last { state.newestRow = stored.row }
            change.entries += stored.entries
            change.newestRow = stored.row
            news.append(NewEvents(numbers, arrival: stored.arrival))
        }
        if state.ranges.gaps != gaps { try keepGaps(of: state) }
        change.logs[batch.log] = state
        return news
    }

    private func insert(
        _ batch: Batch, for numbers: ClosedRange<UInt64>, of log: Int64, _ arrived: UInt64
    ) throws(HistoryError) -> Int64 {
        try writer.insert(
            "INSERT INTO batch (log, first, fresh, last, last_id, arrived, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(log), .integer(Int64(clamping: batch.first)),
                .integer(Int64(clamping: numbers.lowerBound)), .integer(Int64(clamping: numbers.upperBound)),
                .blob((batch.id(of: numbers.upperBound) ?? .none).digest.bytes), .integer(Int64(clamping: arrived)),
                .blob(batch.bytes),
            ])
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
