import ChatModel
import Identity

/// Draws a course of events from a seed, and lets it happen: who is there, who says what when, and what goes wrong.
final class Schedule {
    private enum Fault: CaseIterable {
        case cut, oneWay, split, isolate, reset, crash, powerLoss, leave, clockJump, restore, rollback, replay, shuffle
        case slowDisk, fullDisk, stop, forge
    }

    let world: World
    private let seed: UInt64
    private let length: UInt64
    private let messages: Int
    /// Whether no fault begins any more.
    private var isSettling = false

    init(seed: UInt64, hosts wanted: Int?, flaw: Flaw?, isGenuine: Bool) {
        self.seed = seed
        var chance = Chance(seed: seed)
        let count = wanted ?? Int(min(chance.among(3...10), min(chance.among(3...10), chance.among(3...10))))
        world = World(seed: chance.next(), hosts: count, flaw: flaw, isGenuine: isGenuine)
        length = world.chance.among(8_000...40_000)
        messages = Int(world.chance.among(20...30))
        world.latency = world.chance.among(2...80)
    }

    private func among(_ range: ClosedRange<UInt64>) -> UInt64 { world.chance.among(range) }
    private func anyHost() -> Host { world.hosts[world.chance.index(below: world.hosts.count)] }

    func run() {
        cast()
        arrange()
        for host in world.hosts {
            let isLate = world.chance.isOne(in: 4)
            world.schedule(after: isLate ? among(0...length / 2) : among(0...300)) { host.start() }
        }
        planTalk()
        planFaults()
        _ = world.run(for: length)
        settle()
    }

    /// Deals out who isn't honest; with a liar, everybody has a way to everybody.
    private func cast() {
        guard world.hosts.count > 3, world.chance.isOne(in: 3) else { return }
        let roles: [Host.Role] = [.equivocator, .clockLiar, .forger, .twoFaced, .withholder, .multiplier]
        let host = anyHost()
        host.role = roles[world.chance.index(below: roles.count)]
        if host.role.isDoubtful { world.record.doubtful.insert(host.index) }
    }

    /// Decides who has a way to whom: a full mesh, or a connected part of one.
    private func arrange() {
        guard world.hosts.allSatisfy(\.isHonest), world.chance.isOne(in: 3) else { return }
        let extra = among(0...3)
        for one in world.hosts.dropFirst() {
            let parent = extra == 0 ? one.index - 1 : world.chance.index(below: one.index)
            for other in world.hosts.prefix(one.index) where other.index != parent {
                if extra < 2 || !world.chance.isOne(in: extra) {
                    world.links.setStrangers(one.index, other.index, true)
                }
            }
        }
    }

    private func planTalk() {
        var number = 0
        while number < messages {
            let time = world.now + among(0...length)
            // Several at once make one batch, or lines of one time on several hosts.
            let burst = world.chance.isOne(in: 3) ? Int(among(2...5)) : 1
            let isOneHost = world.chance.isOne(in: 2)
            let host = anyHost()
            for _ in 0..<burst {
                number += 1
                let speaker = isOneHost ? host : anyHost()
                world.schedule(at: time) { [number] in speaker.say("line \(number)") }
            }
        }
        world.schedule(after: length / 2) { [self] in
            for host in world.hosts where host.isHonest && host.isRunning && !host.isStopped {
                if let nonce = host.disk.nonces.keys.min(by: { $0.value < $1.value }) { host.confuse(nonce) }
            }
        }
    }

    private func planFaults() {
        plan(.crash)
        let isLiarThere = world.hosts.contains { $0.role == .forger || $0.role == .multiplier }
        if isLiarThere { for _ in 0..<6 { plan(.forge) } }
        for _ in 0..<among(4...9) { plan(Fault.allCases[world.chance.index(below: Fault.allCases.count)]) }
    }

    private func plan(_ fault: Fault) {
        world.record.faults += 1
        let span = world.chance.isOne(in: 3) ? among(50...1_000) : among(1_000...20_000)
        world.schedule(at: world.now + among(0...length)) { [self] in inject(fault, for: span) }
    }

    private func inject(_ fault: Fault, for span: UInt64) {
        let host = anyHost(), other = anyHost()
        switch fault {
        case .cut: cut([host], from: [other], for: span)
        case .oneWay:
            world.block(from: host, to: other)
            world.schedule(after: span) { [world] in world.unblock(from: host, to: other) }
        case .split:
            let half = world.hosts.filter { _ in world.chance.isOne(in: 2) }
            cut(half, from: world.hosts.filter { host in !half.contains { $0 === host } }, for: span)
        case .isolate: cut([host], from: world.hosts, for: span)
        case .reset: world.reset(host, other)
        case .crash, .powerLoss:
            // Half of them in the midst of a commit.
            if world.chance.isOne(in: 2), host.isRunning { host.say("line in a crash \(world.now)") }
            world.schedule(after: among(0...3)) { host.crash(power: fault == .powerLoss) }
            world.schedule(after: among(20...span)) { host.start() }
        case .leave:
            host.leave()
            world.schedule(after: among(20...span)) { host.start() }
        case .clockJump:
            let years = Int64(10 * 365 * 86_400_000 as UInt64)
            let limit = world.chance.isOne(in: 2) ? years : 900_000
            host.setWall(offset: Int64(among(0...UInt64(2 * limit))) - limit)
        case .restore, .rollback: restore(host, isRollback: fault == .rollback, after: span)
        case .replay:
            for (bytes, receiver) in host.sentOnce {
                host.send(.batch(bytes), to: world.hosts[receiver].peer)
                host.send(.batch(bytes), to: other.peer)
            }
        case .shuffle:
            host.isShuffling = true
            world.schedule(after: span) { host.isShuffling = false }
        case .slowDisk: host.slowUntil = world.now + among(0...2_000)
        case .fullDisk: host.fullUntil = world.now + min(span, 5_000)
        case .stop: stop(host, for: span)
        case .forge: forge(by: host, about: other)
        }
    }

    private func cut(_ some: [Host], from others: [Host], for span: UInt64) {
        for one in some {
            for other in others {
                world.block(from: one, to: other)
                world.block(from: other, to: one)
            }
        }
        world.schedule(after: span) { [world] in
            for one in some {
                for other in others {
                    world.unblock(from: one, to: other)
                    world.unblock(from: other, to: one)
                }
            }
        }
    }

    /// Puts an older database in the place of a host's: copied back, which its file tells, or with the whole machine,
    /// which nothing tells.
    private func restore(_ host: Host, isRollback: Bool, after span: UInt64) {
        guard host.isHonest else { return }
        host.backup = host.durable
        world.schedule(after: span) { [self] in
            guard !isSettling, let backup = host.backup else { return }
            host.backup = nil
            host.crash(power: false)
            excuse(host, backup)
            host.disk = backup
            host.sentOnce = []
            world.record.restored.insert(host.index)
            if isRollback {
                host.disk.isNewIncarnation = false
                world.record.rolledBack.insert(host.index)
            } else if world.flaw != .forgottenBirth {
                host.disk.openIncarnation(world.incarnation())
            }
            host.synced = host.disk
            world.schedule(after: among(20...2_000)) { host.start() }
        }
    }

    /// What nobody has but a database that is lost may be lost.
    private func excuse(_ host: Host, _ backup: Disk) {
        for (log, rows) in host.durable.logs {
            for (number, id) in rows.events where !backup.holds(id, number, of: log) {
                let isElsewhere = world.hosts.contains {
                    $0 !== host && $0.isHonest && $0.durable.holds(id, number, of: log)
                }
                if !isElsewhere { world.record.excused.insert(id) }
            }
        }
    }

    private func stop(_ host: Host, for span: UInt64) {
        guard host.isRunning, !host.isStopped else { return }
        host.stop()
        cut([host], from: world.hosts, for: span)
        let life = host.life
        world.schedule(after: span) { if host.life == life { host.goOn() } }
    }

    /// A liar's own fault: events in another's name, or claims to have what isn't there.
    private func forge(by host: Host, about other: Host) {
        if let forger = world.hosts.first(where: { $0.role == .forger }), host !== forger {
            forger.forge(in: other.disk.ownLog, for: host)
        }
        if let author = world.hosts.first(where: { $0.role == .multiplier }), host !== author {
            author.multiply(for: host)
        }
    }

    /// Ends all faults, and waits until all have the same.
    private func settle() {
        isSettling = true
        if world.record.crashes == 0 { world.hosts.first(where: \.isRunning)?.crash(power: false) }
        world.healAll()
        for host in world.hosts {
            host.goOn()
            host.isShuffling = false
            host.slowUntil = 0
            host.fullUntil = 0
            if !host.isRunning { host.start() }
        }
        let check = Check(world)
        var isDone = world.run(for: 60_000, looking: 200) { check.isSettled }
        // Nothing comes twice afterwards, and nobody goes on asking; a liar may still show what it had kept back.
        if isDone { _ = world.run(for: 4_000) }
        if isDone, !check.isSettled { isDone = world.run(for: 60_000, looking: 200) { check.isSettled } }
        if !isDone { world.violated("60 s after the last fault: \(check.difference)") }
        check.run()
    }
}

extension Host {
    /// Begins more logs than anybody should take of one author, or half as many.
    func multiply(for victim: Host) {
        for _ in 0..<world.chance.among(20...80) {
            let event = BatchEvent(
                kind: .text, nonce: Nonce(UInt128(world.chance.next())), clock: HybridTime(milliseconds: wall),
                wallTime: wall, body: EventBody.text("again").encoded(authorName: "host"))
            let log = LogID(author: peer, incarnation: world.incarnation())
            send(.batch(world.seal([event], in: log, first: 1, previous: .none, with: key).bytes), to: victim.peer)
        }
    }

    func forge(in log: LogID, for victim: Host) {
        let head = disk.logs[log]
        let number = (head?.last ?? 0) + 1
        let event = BatchEvent(
            kind: .text, nonce: Nonce(UInt128(world.chance.next())), clock: HybridTime(milliseconds: wall),
            wallTime: wall, body: EventBody.text("forged").encoded(authorName: "host"))
        if world.chance.isOne(in: 2) {
            send(.batch(world.forged(event, log, number, head?.lastID ?? .none)), to: victim.peer)
        } else {
            let last = world.chance.isOne(in: 2) ? number + 3 : .max - 2
            let range = EventRange(numbers: 1...last, lastID: EventID(World.room.digest))
            send(.have(Have(entries: [.init(log: log, ranges: [range])])), to: victim.peer)
        }
    }
}
