import Addressing
@_spi(Simulation) import ChatModel
import Identity

/// The hosts of one schedule, their network and their time; one seed is always one course of events.
final class World {
    static let room = RoomID(openRoom: "simulation")
    static let maximumHosts = 100
    private static let keys = (0..<maximumHosts).map { number -> SigningKey in
        guard let key = SigningKey(seed: SHA256.digest(of: Array("simulated \(number)".utf8)).bytes) else {
            preconditionFailure("32 bytes are a seed")
        }
        return key
    }
    private static let indexes = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1.peer, $0) })

    let flaw: Flaw?
    /// Whether seals are real and messages pass through their encoding.
    let isGenuine: Bool
    var chance: Chance
    /// In milliseconds, on a clock that never jumps.
    private(set) var now: UInt64 = 1_000
    /// The longest way of a frame, in milliseconds.
    var latency: UInt64 = 20
    private(set) var hosts: [Host] = []
    var record = Record()
    var links = Links()
    /// Stands for all that happened so far, in its order.
    private(set) var trace: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var steps = 0

    private var agenda = Agenda()
    /// Batches whose seals were looked at.
    private var known: [Written: Batch] = [:]
    /// The last ids that their authors sealed.
    private var sealed: Set<EventID> = []

    init(seed: UInt64, hosts count: Int, flaw: Flaw?, isGenuine: Bool) {
        chance = Chance(seed: seed)
        self.flaw = flaw
        self.isGenuine = isGenuine
        links = Links(hosts: count)
        for index in 0..<count { hosts.append(Host(index, Self.keys[index], self)) }
    }

    /// - Returns: `nil` for somebody who isn't of this world.
    func host(of peer: PeerID) -> Host? { Self.indexes[peer].flatMap { $0 < hosts.count ? hosts[$0] : nil } }

    func incarnation() -> Incarnation { Incarnation(UInt128(chance.next()) << 64 | UInt128(chance.next())) }

    /// Adds to the trace.
    func note(_ first: UInt64, _ second: UInt64, _ third: UInt64) {
        for value in [now, first, second, third] { trace = (trace ^ value) &* 0x100_0000_01b3 }
    }

    func violated(_ what: @autoclosure () -> String) {
        if record.violations.count < 20 { record.violations.append("\(now) ms: \(what())") }
    }

    // MARK: Time

    func schedule(at time: UInt64, _ action: @escaping () -> Void) { agenda.insert(at: max(time, now), action) }
    func schedule(after delay: UInt64, _ action: @escaping () -> Void) { agenda.insert(at: now + delay, action) }

    /// Lets time pass, until `condition` is true at one of its looks.
    func run(for span: UInt64, looking period: UInt64 = .max, until condition: () -> Bool = { false }) -> Bool {
        let end = now + span
        while now < end {
            let pause = min(end, period == .max ? end : now + period)
            while let next = agenda.next(until: pause) {
                now = next.time
                steps += 1
                next.action()
            }
            now = pause
            if condition() { return true }
        }
        return false
    }

    func end() { agenda.removeAll() }

    // MARK: Seals

    func seal(
        _ events: [BatchEvent], in log: LogID, first: UInt64, previous: EventID, with key: SigningKey
    ) -> Batch {
        let batch =
            isGenuine
            ? Batch(sealing: events, in: log, of: Self.room, first: first, previous: previous, with: key)
            : Batch(simulating: events, in: log, of: Self.room, first: first, previous: previous)
        known[Written(bytes: batch.bytes)] = batch
        sealed.insert(batch.lastID)
        return batch
    }

    /// An event under a seal that its author never made.
    func forged(_ event: BatchEvent, _ log: LogID, _ number: UInt64, _ previous: EventID) -> [UInt8] {
        Batch(simulating: [event], in: log, of: Self.room, first: number, previous: previous).bytes
    }

    /// A seal costs the same bytes for every reader, so each is looked at once.
    func verify(_ bytes: [UInt8], reader: PeerID) -> Batch? {
        let written = Written(bytes: bytes)
        if let batch = known[written] { return batch }
        if isGenuine, flaw == nil {
            guard let batch = try? Batch(verifying: bytes, in: Self.room, reader: reader) else { return nil }
            known[written] = batch
            return batch
        }
        guard let batch = try? Batch(stored: bytes, in: Self.room),
            sealed.contains(batch.lastID) || flaw == .unverifiedSeal || flaw == .keptInnerSeal
        else { return nil }
        known[written] = batch
        return batch
    }
}

/// Bytes as a key; hashed at once, not one by one.
private struct Written: Hashable {
    var bytes: [UInt8]
    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

/// What is known outside of all hosts: who said what, and what went wrong.
struct Record {
    struct Said {
        var host: Int
        var text: String
    }

    var said: [Nonce: Said] = [:]
    /// Events whose client was told that they are stored.
    var acknowledged: [EventID: (host: Int, log: LogID, number: UInt64)] = [:]
    /// Acknowledged events that went with a database that was older, when nobody else had them.
    var excused: Set<EventID> = []
    /// Hosts of which two histories may be shown: equivocators, and who gave a number again after a rollback.
    var doubtful: Set<Int> = []
    /// The last number that was given in a log.
    var issued: [LogID: UInt64] = [:]
    /// Hosts whose database was ever an older one: a message of theirs may be sent again under its nonce.
    var restored: Set<Int> = []
    /// Those of them that nothing tells of it.
    var rolledBack: Set<Int> = []
    var violations: [String] = []
    var faults = 0
    var crashes = 0
}
