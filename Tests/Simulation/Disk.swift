import ChatModel
import Identity

/// What outlives a host's process: logs by the rules of History (Sources/History/HistoryStoring.swift).
struct Disk {
    struct Log {
        /// A batch as it was sealed, and what of it was new with it.
        struct Row {
            var batch: Batch
            var numbers: ClosedRange<UInt64>
        }

        /// In the order of their numbers, of which no two have the same.
        private(set) var rows: [Row] = []
        private(set) var ranges = EventRanges()
        private var ids: [UInt64: EventID] = [:]

        var last: UInt64 { ranges.last }
        var lastID: EventID { ranges.lastID }
        var count: Int { ids.count }
        var allIDs: some Collection<EventID> { ids.values }
        /// By their numbers.
        var events: [(key: UInt64, value: EventID)] { ids.sorted { $0.key < $1.key } }

        func id(of number: UInt64) -> EventID? { number == 0 ? EventID.none : ids[number] }

        /// The highest number that both hold.
        func lastCommon(with other: Log) -> UInt64? { ids.keys.filter { other.ids[$0] != nil }.max() }

        mutating func add(_ batch: Batch, _ numbers: ClosedRange<UInt64>) {
            let place = rows.firstIndex { $0.numbers.lowerBound > numbers.lowerBound } ?? rows.endIndex
            rows.insert(Row(batch: batch, numbers: numbers), at: place)
            ranges.insert(EventRange(numbers: numbers, lastID: batch.id(of: numbers.upperBound) ?? .none))
            for number in numbers { ids[number] = batch.id(of: number) }
        }

        /// Puts batches with the same events in the place of one.
        mutating func split(_ batch: Batch, into parts: [Batch]) {
            guard let place = rows.firstIndex(where: { $0.batch == batch && $0.numbers == batch.numbers }) else {
                return
            }
            rows.replaceSubrange(place...place, with: parts.map { Row(batch: $0, numbers: $0.numbers) })
        }

        /// Claims what is missing, as a planted bug.
        mutating func closeGaps() { ranges = EventRanges([EventRange(numbers: 1...last, lastID: lastID)]) }
    }

    struct Used {
        var id: EventID
        var number: UInt64
        var body: [UInt8]
    }

    let author: PeerID
    var logs: [LogID: Log] = [:]
    var ownLog: LogID
    var nonces: [Nonce: Used] = [:]
    /// The batches that contradict ours.
    var forks: [LogID: Batch] = [:]
    /// Whether this process opened the log that it adds to.
    var isNewIncarnation = true
    /// Where events from too far ahead stand instead of at their clock.
    var marks: [EventID: HybridTime] = [:]
    var latestClock = HybridTime(value: 0)
    /// In the order of their coming.
    var arrivals: [EventID] = []

    init(_ author: PeerID, _ incarnation: Incarnation) {
        self.author = author
        ownLog = LogID(author: author, incarnation: incarnation)
    }

    var ranges: [LogID: EventRanges] { logs.mapValues(\.ranges) }

    func holds(_ id: EventID, _ number: UInt64, of log: LogID) -> Bool { logs[log]?.id(of: number) == id }

    mutating func openIncarnation(_ incarnation: Incarnation) {
        ownLog = LogID(author: author, incarnation: incarnation)
        isNewIncarnation = true
    }

    // MARK: Own events

    /// Adds a batch of ours that continues our log.
    mutating func add(_ batch: Batch) {
        logs[batch.log, default: Log()].add(batch, batch.numbers)
        index(batch, batch.numbers, wall: .max)
    }

    // MARK: Events of others

    mutating func store(_ batch: Batch, wall: UInt64, flaw: Flaw?, incarnation: Incarnation) -> StoredBatch.Result {
        if forks[batch.log] != nil { return .forked }
        let known = logs[batch.log] ?? Log()
        if contradicts(batch, known) {
            if flaw == .ignoredFork { return .known }
            forks[batch.log] = batch
            if batch.log == ownLog { openIncarnation(incarnation) }
            return .forked
        }
        var missing = known.ranges.missing(in: batch.numbers)
        if missing.isEmpty { return flaw == .noDeduplication ? .stored([NewEvents(batch.numbers)]) : .known }
        if known.ranges.countAdding(batch.numbers) > EventRanges.maximumCount { return .gap }
        if flaw == .storedOverlap { missing = [batch.numbers] }
        for numbers in missing {
            logs[batch.log, default: Log()].add(batch, numbers)
            index(batch, numbers, wall: wall)
        }
        if flaw == .forgottenGap { logs[batch.log]?.closeGaps() }
        if batch.log == ownLog { openIncarnation(incarnation) }
        return .stored(missing.map { NewEvents($0) })
    }

    /// Whether a batch has another id than ours where it overlaps or touches one of our ranges.
    private func contradicts(_ batch: Batch, _ log: Log) -> Bool {
        log.ranges.all.contains { range in
            let (first, last) = (range.numbers.lowerBound, range.numbers.upperBound)
            guard first - 1 <= batch.last, batch.first - 1 <= last else { return false }
            let common = min(batch.last, last)
            let ours =
                common >= first
                ? log.id(of: common) : log.rows.first { $0.numbers.lowerBound == first }?.batch.id(of: common)
            return ours != nil && batch.id(of: common) != nil && ours != batch.id(of: common)
        }
    }

    private mutating func index(_ batch: Batch, _ numbers: ClosedRange<UInt64>, wall: UInt64) {
        let limit = HybridTime(milliseconds: wall == .max ? .max : wall + RoomLimits().clockLead)
        for (offset, event) in batch.events.enumerated() where numbers.contains(batch.first + UInt64(offset)) {
            let id = batch.ids[offset]
            arrivals.append(id)
            if batch.log.author == author {
                nonces[event.nonce] = Used(id: id, number: batch.first + UInt64(offset), body: event.body)
            }
            if event.clock > limit { marks[id] = HybridTime(milliseconds: wall) }
            latestClock = max(latestClock, min(event.clock, limit))
        }
    }

    // MARK: Reading

    /// Stored batches that cover a range from its front, `count` at most; joined if wanted.
    func batches(for want: Want, atMost count: Int, joined isJoined: Bool) -> [[UInt8]] {
        guard let log = logs[want.log] else { return [] }
        var rows: [Batch] = []
        for row in log.rows where row.batch.last >= want.numbers.lowerBound && rows.count < count {
            if let end = rows.last?.last, row.batch.last <= end { continue }
            let next = rows.last.map { $0.last + 1 } ?? want.numbers.lowerBound
            if row.batch.first > min(next, want.numbers.upperBound) { break }
            rows.append(row.batch)
        }
        guard isJoined else { return rows.map(\.bytes) }
        var joiner = BatchJoiner()
        for batch in rows { joiner.add(batch.bytes, numbers: batch.numbers) }
        return joiner.joined.map(\.bytes)
    }

    /// The ids of all events whose clock is believed, as they stand on the screen.
    func order(flaw: Flaw?) -> [EventID] {
        var rows: [(clock: HybridTime, author: PeerID, number: UInt64, id: EventID)] = []
        for (id, log) in logs {
            for row in log.rows {
                for number in row.numbers {
                    let event = row.batch.events[Int(number - row.batch.first)]
                    rows.append((event.clock, id.author, number, row.batch.id(of: number) ?? .none))
                }
            }
        }
        rows = rows.filter { marks[$0.id] == nil }
        if flaw == .wrongTieBreak {
            var places: [EventID: Int] = [:]
            for (place, id) in arrivals.enumerated() { places[id] = place }
            rows.sort { ($0.clock, places[$0.id] ?? 0) < ($1.clock, places[$1.id] ?? 0) }
        } else {
            rows.sort { ($0.clock, $0.author, $0.number, $0.id) < ($1.clock, $1.author, $1.number, $1.id) }
        }
        return rows.map(\.id)
    }
}
