import ChatModel
import Foundation
import Glibc
import Identity
import Testing

@testable import History

/// Something that a history is asked to do.
enum Order {
    case append([BatchEvent])
    case store([Batch])
    case note(EventID, ImageOutcome)
    case remember(PeerID, PeerRecord)
    case set(String, String)
    case read
    /// Closed, and opened again.
    case reopen
}

/// What a history must have, as far as it confirmed it.
struct Kept {
    /// By the ids of their last events.
    var batches: [EventID: [UInt8]] = [:]
    var outcomes: [EventID: ImageOutcome] = [:]
    var records: [PeerID: PeerRecord] = [:]
    var settings: [String: String] = [:]

    mutating func take(_ order: Order, _ stored: [Batch]) {
        for batch in stored { batches[batch.lastID] = batch.bytes }
        switch order {
        case .note(let id, let outcome): outcomes[id] = outcome
        case .remember(let peer, let record): records[peer] = record
        case .set(let key, let value): settings[key] = value
        case .append, .store, .read, .reopen: break
        }
    }

    /// What is wrong with a history that was just opened.
    ///
    /// - Parameter next: What it would be if the order that was under way had been carried out: that or this, nothing
    ///   in between.
    func complaints(about history: History, or next: Kept? = nil) throws -> [String] {
        var complaints: [String] = []
        let rows = try history.reader.all("SELECT last_id, bytes FROM batch", []) { ($0.blob(0), $0.blob(1)) }
        let found = rows.reduce(into: [EventID: [UInt8]]()) { found, row in
            if let id = Bytes32(row.0) { found[EventID(id)] = row.1 }
        }
        if found.count != rows.count { complaints.append("a batch is there twice") }
        if !Self.same(found, batches), next.map({ Self.same(found, $0.batches) }) != true {
            let missing = batches.keys.filter { found[$0] == nil }.count
            complaints.append("\(found.count) batches for \(batches.count), \(missing) missing")
        }
        for (id, outcome) in outcomes {
            let found = try history.outcome(of: id)
            if found != outcome, found != next?.outcomes[id] {
                complaints.append("image: \(String(describing: found))")
            }
        }
        let known = Dictionary(uniqueKeysWithValues: history.knownPeers().map { ($0.peer, $0.record) })
        for (peer, record) in records where known[peer] != record && known[peer] != next?.records[peer] {
            complaints.append("pin: \(String(describing: known[peer]))")
        }
        for (key, value) in settings {
            let found = history.setting(key)
            if found != value, found != next?.settings[key] { complaints.append("setting: \(found ?? "none")") }
        }
        let check = try history.writer.first("PRAGMA integrity_check", [], { $0.text(0) })
        if check != "ok" { complaints.append("integrity: \((check ?? nil) ?? "none")") }
        return complaints
    }

    /// What is wrong with the lines that it shows, which takes longer to find out.
    func complaintsAboutLines(of history: History) throws -> [String] {
        let lines = try history.lines(last: .max)
        let held = history.logs.values.reduce(0) { $0 + Int($1.ranges.count) }
        if Set(lines.map(\.id)).count != lines.count { return ["a line is there twice"] }
        return lines.count == held ? [] : ["\(lines.count) lines of \(held) events"]
    }

    private static func same(_ left: [EventID: [UInt8]], _ right: [EventID: [UInt8]]) -> Bool {
        left.count == right.count
            && left.allSatisfy { id, bytes in
                // Not `==`, which takes most of the time of a long run where nothing is optimised.
                guard let other = right[id], other.count == bytes.count else { return false }
                return memcmp(bytes, other, bytes.count) == 0
            }
    }
}

/// Orders that follow from a seed.
struct Workload {
    private(set) var orders: [Order] = []
    private var dice: SplitMix64
    private var authors: [Author]
    /// The last batch of each author.
    private var last: [Int: Batch] = [:]
    /// Batches of each author that come only after later ones.
    private var late: [Int: [Batch]] = [:]
    private var peers: [PeerID]

    /// What orders are about.
    enum Theme: String, CaseIterable {
        case own, others, records
    }

    /// - Parameters:
    ///   - themes: One theme an order, by turns at random.
    ///   - reopenings: After how many orders the history is closed and opened again.
    init(_ count: Int, of themes: [Theme] = Theme.allCases, reopenings: Int, seed: UInt64) {
        dice = SplitMix64(seed: seed)
        authors = (1...3).map { Author(incarnation: UInt128($0)) }
        peers = authors.map(\.key.peer)
        for index in 1...count {
            if index % reopenings == 0 {
                orders.append(.reopen)
            } else if Int.random(in: 0..<20, using: &dice) == 0 {
                orders.append(.read)
            } else {
                add(themes[Int.random(in: 0..<themes.count, using: &dice)])
            }
        }
    }

    private mutating func add(_ theme: Theme) {
        switch theme {
        case .own: orders.append(.append((0..<Int.random(in: 1...3, using: &dice)).map { _ in event() }))
        case .others: orders.append(.store((0..<Int.random(in: 1...4, using: &dice)).map { _ in next() }))
        case .records: orders.append(record())
        }
    }

    /// Mostly short; some longer than a page of the database.
    private mutating func event() -> BatchEvent {
        let length = Int.random(in: 0..<12, using: &dice) == 0 ? 9_000 : Int.random(in: 1...200, using: &dice)
        return text(String(repeating: "x", count: length), nonce: .random(in: .min ... .max, using: &dice))
    }

    /// What comes next of some author; not always the batch that follows, so that there are gaps for a while.
    private mutating func next() -> Batch {
        let place = Int.random(in: 0..<authors.count, using: &dice)
        if let batch = late[place]?.first, Int.random(in: 0..<3, using: &dice) == 0 {
            late[place]?.removeFirst()
            return batch
        }
        let batch = batch(of: place)
        guard late[place]?.count ?? 0 < 2, Int.random(in: 0..<6, using: &dice) == 0 else { return batch }
        late[place, default: []].append(batch)
        return next()
    }

    /// An author's next, which now and then begins with what was there before.
    private mutating func batch(of place: Int) -> Batch {
        var events: [BatchEvent] = []
        for _ in 0..<Int.random(in: 1...8, using: &dice) { events.append(event()) }
        while Batch.fitting(events) < events.count { events.removeLast() }
        var batch = authors[place].seal(events)
        if let before = last[place], Int.random(in: 0..<5, using: &dice) == 0,
            Batch.fitting(before.events + batch.events) == before.events.count + batch.events.count
        {
            batch = authors[place].join([before, batch])
        }
        last[place] = batch
        return batch
    }

    private mutating func record() -> Order {
        let number = UInt64.random(in: 1...1_000_000, using: &dice)
        switch Int.random(in: 0..<3, using: &dice) {
        case 0:
            let id = EventID(SHA256.digest(of: [UInt8(number % 20)]))
            return .note(id, number % 2 == 0 ? .received("/tmp/\(number).png") : .failed("\(number)"))
        case 1:
            let peer = peers[Int(number % UInt64(peers.count))]
            let verdict = PeerRecord.Verdict(rawValue: Int(number % 3)) ?? .none
            return .remember(peer, PeerRecord(name: "bob\(number)", firstSeen: number, verdict: verdict))
        default: return .set("key\(number % 5)", "\(number)")
        }
    }
}

extension History {
    /// Carries out an order on its queue.
    ///
    /// - Returns: The batches that it has since.
    func obey(_ order: Order) throws -> [Batch] {
        try on { history in
            switch order {
            case .append(let drafts): return try history.append(drafts).batches
            case .store(let batches):
                return zip(batches, try history.store(batches)).compactMap { batch, result in
                    if case .stored = result { batch } else { nil }
                }
            case .note(let id, let outcome): try history.note(id, image: outcome)
            case .remember(let peer, let record): try history.remember(peer, record)
            case .set(let key, let value): try history.set(key, value)
            case .read: _ = try history.lines(last: 10)
            case .reopen: break
            }
            return []
        }
    }
}
