import ChatModel
import Identity

/// What outlives a host's process: logs by the rules of History (Sources/History/HistoryStoring.swift).
struct Disk {
    struct Log {
        /// As they were sealed; they may overlap.
        var batches: [Batch] = []
        /// Of each event from number 1 on.
        var ids: [EventID] = []

        var last: UInt64 { UInt64(ids.count) }
        func id(of number: UInt64) -> EventID? {
            number == 0 ? EventID.none : number <= last ? ids[Int(number) - 1] : nil
        }
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

    var heads: [LogID: EventRange] {
        logs.compactMapValues { log in
            log.ids.last.map { EventRange(numbers: 1...log.last, lastID: $0) }
        }
    }

    func holds(_ id: EventID, _ number: UInt64, of log: LogID) -> Bool { logs[log]?.id(of: number) == id }

    mutating func openIncarnation(_ incarnation: Incarnation) {
        ownLog = LogID(author: author, incarnation: incarnation)
        isNewIncarnation = true
    }

    // MARK: Own events

    /// Adds a batch of ours that continues our log.
    mutating func add(_ batch: Batch) {
        logs[batch.log, default: Log()].batches.append(batch)
        logs[batch.log, default: Log()].ids += batch.ids
        index(batch, from: batch.first, wall: .max)
    }

    // MARK: Events of others

    mutating func store(_ batch: Batch, wall: UInt64, flaw: Flaw?, incarnation: Incarnation) -> StoredBatch.Result {
        if forks[batch.log] != nil { return .forked }
        let last = logs[batch.log]?.last ?? 0
        if batch.first > last + 1 {
            guard flaw == .storedGap else { return .gap }
            logs[batch.log, default: Log()].ids += Array(repeating: .none, count: Int(batch.first - last - 1))
        }
        let common = min(batch.last, last)
        if common + 1 >= batch.first, let log = logs[batch.log], batch.id(of: common) != log.id(of: common) {
            if flaw == .ignoredFork { return .known }
            forks[batch.log] = batch
            if batch.log == ownLog { openIncarnation(incarnation) }
            return .forked
        }
        if batch.last <= last { return flaw == .noDeduplication ? .stored(first: batch.first) : .known }
        logs[batch.log, default: Log()].batches.append(batch)
        let fresh = flaw == .storedOverlap ? batch.first : max(last, batch.first - 1) + 1
        logs[batch.log, default: Log()].ids += batch.ids.dropFirst(Int(fresh - batch.first))
        index(batch, from: fresh, wall: wall)
        if batch.log == ownLog { openIncarnation(incarnation) }
        return .stored(first: fresh)
    }

    private mutating func index(_ batch: Batch, from first: UInt64, wall: UInt64) {
        let limit = HybridTime(milliseconds: wall == .max ? .max : wall + RoomLimits().clockLead)
        for (offset, event) in batch.events.enumerated() where batch.first + UInt64(offset) >= first {
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
        let rows = log.batches.lazy
            .filter { $0.last >= want.numbers.lowerBound && $0.first <= want.numbers.upperBound }.prefix(count)
        guard isJoined else { return rows.map(\.bytes) }
        var joiner = BatchJoiner()
        for batch in rows { joiner.add(batch.bytes, numbers: batch.numbers) }
        return joiner.joined.map(\.bytes)
    }

    /// The ids of all events whose clock is believed, as they stand on the screen.
    func order(flaw: Flaw?) -> [EventID] {
        var rows: [(clock: HybridTime, author: PeerID, number: UInt64, id: EventID)] = []
        for (id, log) in logs {
            var last: UInt64 = 0
            for batch in log.batches {
                for (offset, event) in batch.events.enumerated() where batch.first + UInt64(offset) > last {
                    last = batch.first + UInt64(offset)
                    rows.append((event.clock, id.author, last, batch.ids[offset]))
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
