/// One stack at work for a session: which of its records are being resolved, and how it does.
///
/// Only touched on the session's queue.
final class Lane {
    enum Health { case starting, working, stuck, troubled }

    /// Tells the records of two stacks apart; a stack that takes another's place has its number.
    let number: UInt8
    /// Tells the events of a stack from those of the one before it.
    let epoch: Int
    let stack: any MulticastDNS
    var health = Health.starting
    var hasAnswered = false
    /// When it stopped working, in milliseconds of the session's clock, as long as it doesn't.
    var failingSince: UInt64?
    private(set) var browses = 0
    private var pool = ResolverPool()

    init(_ stack: any MulticastDNS, number: UInt8, epoch: Int) {
        self.stack = stack
        self.number = number
        self.epoch = epoch
    }

    /// The record as this stack's.
    func own(_ record: RecordKey) -> RecordKey {
        var record = record
        record.lane = number
        return record
    }

    func isActive(_ record: RecordKey) -> Bool { pool.isActive(record) }

    /// All records are void.
    func reset() { pool.reset() }

    func beginBrowsing() {
        pool.reset()
        browses += 1
    }

    // Each returns the records that are forgotten for new ones.

    func appeared(_ record: RecordKey, at now: UInt64) -> [RecordKey] { obey(pool.appeared(record, at: now)) }
    func vanished(_ record: RecordKey, at now: UInt64) -> [RecordKey] { obey(pool.vanished(record, at: now)) }
    func failed(_ record: RecordKey, at now: UInt64) -> [RecordKey] { obey(pool.failed(record, at: now)) }
    func tick(at now: UInt64) -> [RecordKey] { obey(pool.tick(at: now)) }
    func resolved(_ record: RecordKey, isPeer: Bool, at now: UInt64) -> [RecordKey] {
        obey(pool.resolved(record, isPeer: isPeer, at: now))
    }

    private func obey(_ commands: [ResolverPool.Command]) -> [RecordKey] {
        var forgotten: [RecordKey] = []
        for command in commands {
            switch command {
            case .start(let record): stack.resolve(record)
            case .stop(let record): stack.stopResolving(record)
            case .forget(let record): forgotten.append(record)
            }
        }
        return forgotten
    }
}
