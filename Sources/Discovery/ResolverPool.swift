/// Which records are being resolved: bounded, so that a flood of forged ones costs little and hides nobody for long.
///
/// Pure: times are milliseconds of any monotonic clock. A peer's record keeps its resolver, which tells of changes, until
/// another record needs it; then it is looked at again from time to time. One that doesn't resolve, or is no peer's, waits.
struct ResolverPool: Sendable {
    enum Command: Equatable, Sendable {
        case start(RecordKey), stop(RecordKey)
        /// What was resolved of it doesn't count any more.
        case forget(RecordKey)
    }

    struct Limits: Sendable {
        var resolvers = 64  // at once
        var instances = 1024  // remembered
        var refresh: UInt64 = 30_000  // ms until a peer's record without a resolver is looked at again
        var firstRetry: UInt64 = 5_000  // ms; doubles with each failure
        var lastRetry: UInt64 = 60_000  // ms
        var share: UInt64 = 250  // ms for each record: one is looked at again no more often than in so many times that
    }

    private struct Record {
        var arrival: Int
        var failures = 0
        var due: UInt64?  // when to queue it again
        var isActive = false
        var isPeer = false
    }

    private let limits: Limits
    private var records: [RecordKey: Record] = [:]
    private var instances: [[UInt8]: Set<RecordKey>] = [:]
    /// To be started.
    private var queue = Turns<RecordKey>()
    /// Peers' records whose resolvers have answered, the latest last: others may have those.
    private var settled = Turns<RecordKey>()
    /// Instances that have been looked at and are no peer's, and those that are a peer's; what is forgotten for new ones.
    private var useless = Turns<[UInt8]>()
    private var peers = Turns<[UInt8]>()
    /// So that a flood of old ones doesn't keep a new one waiting, nor the other way round.
    private var isNewestNext = false
    private var activeCount = 0
    private var arrivals = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    var instanceCount: Int { instances.count }

    func isActive(_ key: RecordKey) -> Bool { records[key]?.isActive == true }

    mutating func appeared(_ key: RecordKey, at now: UInt64) -> [Command] {
        guard records[key] == nil else { return [] }
        var commands: [Command] = []
        if instances[key.instance] == nil, instances.count >= limits.instances {
            guard let instance = useless.popFirst() ?? peers.popFirst() else { return [] }
            for record in (instances[instance] ?? []).sorted(by: isOlder) {
                commands += forget(record) + [.forget(record)]
            }
        }
        arrivals += 1
        records[key] = Record(arrival: arrivals)
        instances[key.instance, default: []].insert(key)
        queue.append(key)
        rate(key.instance)
        return commands + fill(at: now)
    }

    mutating func vanished(_ key: RecordKey, at now: UInt64) -> [Command] { forget(key) + fill(at: now) }

    /// A resolver answered, with another peer's advert or not.
    mutating func resolved(_ key: RecordKey, isPeer: Bool, at now: UInt64) -> [Command] {
        guard isActive(key) else { return [] }
        records[key]?.isPeer = isPeer
        records[key]?.failures = 0
        rate(key.instance)
        guard !isPeer else {
            settled.remove(key)
            settled.append(key)
            return fill(at: now)
        }
        return release(key, until: now + atLeast(limits.lastRetry)) + fill(at: now)
    }

    /// A resolver gave up.
    mutating func failed(_ key: RecordKey, at now: UInt64) -> [Command] {
        guard isActive(key), let failures = records[key]?.failures else { return [] }
        let delay = min(limits.firstRetry << UInt64(min(failures, 16)), atLeast(limits.lastRetry))
        records[key]?.failures += 1
        records[key]?.isPeer = false
        return release(key, until: now + delay) + fill(at: now)
    }

    /// Queues what has waited long enough.
    mutating func tick(at now: UInt64) -> [Command] {
        let due = records.filter { _, record in record.due.map { $0 <= now } == true }
        for (key, _) in due.sorted(by: { $0.value.arrival < $1.value.arrival }) {
            records[key]?.due = nil
            queue.append(key)
            rate(key.instance)
        }
        return fill(at: now)
    }

    /// All resolvers and records are gone, as with their stack.
    mutating func reset() { self = ResolverPool(limits: limits) }

    private mutating func fill(at now: UInt64) -> [Command] {
        var commands: [Command] = []
        while let next = takeNext(at: now, &commands) {
            records[next]?.isActive = true
            activeCount += 1
            commands.append(.start(next))
        }
        return commands
    }

    /// Takes out whose turn it is, by turns the oldest and the newest; `nil` while all resolvers are needed.
    private mutating func takeNext(at now: UInt64, _ commands: inout [Command]) -> RecordKey? {
        if queue.isEmpty { return nil }
        if activeCount >= limits.resolvers {
            guard let idle = settled.popFirst() else { return nil }
            commands += release(idle, until: now + atLeast(limits.refresh))
        }
        defer { isNewestNext.toggle() }
        return isNewestNext ? queue.popLast() : queue.popFirst()
    }

    /// A pause, or a longer one while there are many: each look is a question to the whole network.
    private func atLeast(_ pause: UInt64) -> UInt64 { max(pause, UInt64(records.count) * limits.share) }

    /// Notes whether an instance may be forgotten for a new one, after something about a record of it has changed.
    private mutating func rate(_ instance: [UInt8]) {
        let all = (instances[instance] ?? []).compactMap { records[$0] }
        let isPeer = !all.isEmpty && all.allSatisfy(\.isPeer)
        let isUseless = !all.isEmpty && all.allSatisfy { $0.due != nil && !$0.isPeer }
        if isPeer { peers.append(instance) } else { peers.remove(instance) }
        if isUseless { useless.append(instance) } else { useless.remove(instance) }
    }

    private func isOlder(_ left: RecordKey, _ right: RecordKey) -> Bool {
        records[left]?.arrival ?? 0 < records[right]?.arrival ?? 0
    }

    private mutating func release(_ key: RecordKey, until due: UInt64) -> [Command] {
        guard isActive(key) else { return [] }
        records[key]?.isActive = false
        records[key]?.due = due
        settled.remove(key)
        activeCount -= 1
        rate(key.instance)
        return [.stop(key)]
    }

    private mutating func forget(_ key: RecordKey) -> [Command] {
        let commands = release(key, until: 0)
        records[key] = nil
        queue.remove(key)
        instances[key.instance]?.remove(key)
        if instances[key.instance]?.isEmpty == true { instances[key.instance] = nil }
        rate(key.instance)
        return commands
    }
}
