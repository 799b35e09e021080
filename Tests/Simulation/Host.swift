import Addressing
import ChatModel
import Identity

/// One host: a room while its process runs, its disk, and a client that says things until they are acknowledged.
final class Host {
    /// How it plays its part.
    enum Role {
        case honest, equivocator, clockLiar, forger
        /// It keeps two whole histories, and shows each host one of them.
        case twoFaced
        /// It claims to have what it lacks, and answers with nothing.
        case withholder
        /// It begins logs without end.
        case multiplier

        /// Whether hosts may end with different events of it.
        var isDoubtful: Bool { self == .equivocator || self == .twoFaced || self == .multiplier }
    }

    /// What the disk does, one after another.
    enum Work {
        case commit
        case store([UInt8], PeerID)
        case serve(Want, PeerID)
        case settle(Want, PeerID)
    }

    let index: Int
    let key: SigningKey
    let peer: PeerID
    var role = Role.honest
    unowned let world: World

    var disk: Disk
    /// What of the disk a crash leaves; only a planted bug makes it differ.
    var synced: Disk
    /// What a later fault may put in the disk's place.
    var backup: Disk?

    private(set) var room: RoomState
    private(set) var isRunning = false
    /// Counts the processes.
    private(set) var life = 0
    var kept: [Links.Link?]
    private var startTime: UInt64 = 0
    private var wasLinked = false
    /// Whether this process opened the log that it adds to.
    private var isFresh = true
    /// How far its wall clock is off, in milliseconds, and how far it ever was.
    var wallOffset: Int64 = 0
    var latestOffset: Int64 = 0

    /// What its user has before him: the log at the start, and what was added.
    private(set) var screen: Set<EventID> = []
    /// What isn't acknowledged yet, in the order of saying; with the command it was said with in this process.
    var unanswered: [(nonce: Nonce, text: String, command: CommandID?)] = []
    var lastCommand: UInt64 = 0
    private var wakeTime: UInt64?
    private(set) var seen = HybridTime(value: 0)

    // The disk's work
    var drafts: [(event: BatchEvent, command: CommandID)] = []
    private var work: [Work] = []
    private var isWorking = false
    /// Own events on their way to the disk whose client is told later.
    var untold: RoomEvent?
    /// Until when a slow disk finishes nothing, and a full one takes nothing.
    var slowUntil: UInt64 = 0
    var fullUntil: UInt64 = 0
    /// What happens to a process that is stopped waits for it to go on.
    private var inbox: [() -> Void]?

    // Planted bugs and lies
    /// Whether what it says now is what it says first on a link.
    private(set) var isIntroducing = false
    var asked: Set<Want> = []
    /// What a two-faced host shows to half of the others in place of its log.
    var shadow = Disk.Log()
    var twins: [[UInt8]: [UInt8]] = [:]
    var sentOnce: [(bytes: [UInt8], to: Int)] = []
    var isShuffling = false

    init(_ index: Int, _ key: SigningKey, _ world: World) {
        self.index = index
        self.key = key
        self.world = world
        peer = key.peer
        disk = Disk(key.peer, world.incarnation())
        synced = disk
        kept = []
        room = RoomState(.init(me: peer, displayName: "host\(index)", ownLog: disk.ownLog))
    }

    var isHonest: Bool { role == .honest }
    var isStopped: Bool { inbox != nil }
    var isIdle: Bool { !isWorking && drafts.isEmpty }
    var endpoint: Endpoint { Endpoint(address: .v4(0x0a00_0001 + UInt32(index)), port: 7_311) }
    var wall: UInt64 { UInt64(max(0, 1_700_000_000_000 + Int64(world.now) + wallOffset)) }
    var greeting: Hello {
        Hello(displayName: "host\(index)", instance: "", wallTime: wall, autoFetchLimit: 0)
    }
    /// What a crash would leave.
    var durable: Disk {
        switch world.flaw {
        case .acknowledgedBeforeCommit, .pushedBeforeCommit, .shownBeforeCommit, .unsyncedCommit: synced
        default: disk
        }
    }
}

// Its life
extension Host {
    func start() {
        guard !isRunning else { return }
        life += 1
        isRunning = true
        kept = Array(repeating: nil, count: world.hosts.count)
        var start = RoomState.Start(me: peer, displayName: "host\(index)", ownLog: disk.ownLog)
        start.ranges = disk.ranges
        start.clock = disk.latestClock
        start.forks = disk.forks
        start.isNewIncarnation = disk.isNewIncarnation || world.flaw == .hastyAppend
        if world.flaw == .staleHead {
            for (log, ranges) in start.ranges {
                guard let end = ranges.all.last, let id = disk.logs[log]?.id(of: ranges.last - 1) else { continue }
                let shorter =
                    end.numbers.count > 1
                    ? [EventRange(numbers: end.numbers.lowerBound...ranges.last - 1, lastID: id)] : []
                start.ranges[log] = EventRanges(ranges.all.dropLast() + shorter)
            }
        }
        if world.flaw == .staleClock { start.clock = HybridTime(value: 0) }
        // So few that a schedule's logs are asked for in parts, and wait for one another.
        (start.limits.wantLength, start.limits.wantAhead) = (world.chance.among(1...4), world.chance.among(2...6))
        start.limits.pushAhead = Int(world.chance.among(2...20))
        if world.flaw == .unboundedClock { start.limits.clockLead = .max }
        start.seed = world.chance.next()
        isFresh = disk.isNewIncarnation
        wasLinked = false
        startTime = world.now
        room = RoomState(start)
        screen = Set(disk.arrivals)
        seen = disk.latestClock
        take(.tick)
        meetOthers()
        for place in unanswered.indices { unanswered[place].command = nil }
        if !unanswered.isEmpty { later(world.chance.among(0...3_000)) { $0.sayAgain() } }
    }

    private func meetOthers() {
        for other in world.hosts where other !== self && other.isRunning {
            if world.links.areStrangers(index, other.index) { continue }
            if world.links.isOpen(index, other.index) {
                discover(other)
                other.discover(self)
            } else {
                world.links.setUnmet(index, other.index)
                world.links.setUnmet(other.index, index)
            }
        }
    }

    func discover(_ other: Host) {
        let event = RoomEvent.found(other.peer, instance: "", endpoints: [other.endpoint])
        later(world.chance.among(1...50)) { $0.take(event) }
    }

    /// Ends without a word; what isn't on the disk is lost.
    func crash(power isPower: Bool) {
        guard isRunning else { return }
        world.record.crashes += 1
        if isPower { world.vanish(self) } else { world.hangUp(self, .closed) }
        // The commit under way is either on the disk or not.
        if isWorking, untold == nil, let first = work.first, world.chance.isOne(in: 2) { persist(first) }
        disk = durable
        end()
    }

    /// Says goodbye; its announcement goes.
    func leave() {
        guard isRunning else { return }
        world.hangUp(self, .left)
        disk = durable
        end()
        for other in world.hosts where other !== self && other.isRunning {
            other.later(world.chance.among(1...50)) { [peer] in $0.take(.lost(peer)) }
        }
    }

    private func end() {
        isRunning = false
        kept = []
        wakeTime = nil
        drafts = []
        work = []
        isWorking = false
        untold = nil
        inbox = nil
        asked = []
        disk.isNewIncarnation = false
        if world.flaw == .forgottenNonce { disk.nonces = [:] }
        synced = disk
    }

    /// Does something after a while, unless this process has ended by then.
    func later(_ delay: UInt64, _ action: @escaping (Host) -> Void) {
        let life = life
        world.schedule(after: delay) { [self] in
            if self.life == life, isRunning { unlessStopped { action(self) } }
        }
    }

    func unlessStopped(_ action: @escaping () -> Void) {
        if inbox == nil { action() } else { inbox?.append(action) }
    }

    /// Stops the process without ending it, as SIGSTOP does.
    func stop() { if isRunning, inbox == nil { inbox = [] } }

    func goOn() {
        let waiting = inbox ?? []
        inbox = nil
        let life = life
        for action in waiting where self.life == life && isRunning { action() }
        if self.life == life, isRunning { sayAgain() }
    }

    func take(_ event: RoomEvent) {
        guard isRunning else { return }
        let effects = RoomState.reduce(into: &room, RoomInput(event, now: world.now, wall: wall))
        if case .linkUp = event {
            isIntroducing = true
            wasLinked = true
        }
        for effect in effects { perform(effect) }
        isIntroducing = false
    }

    func setWall(offset: Int64) {
        wallOffset = offset
        latestOffset = max(latestOffset, offset)
    }
}

// What its room wants done
extension Host {
    private func perform(_ effect: RoomEffect) {
        switch effect {
        case .dial(let number, let target, let isReplacing): dial(number, target, isReplacing)
        case .send(let peer, let messages): for message in messages { send(message, to: peer) }
        case .disconnect(let peer, let reason):
            guard let other = world.host(of: peer) else { return }
            if other.isHonest, world.flaw != .unverifiedSeal {
                world.violated("host \(index) threw out the honest host \(other.index): \(reason)")
            }
            world.disconnect(self, from: other, reason)
        case .append(let drafts): for draft in drafts { append(draft.event, draft.command) }
        case .store(let bytes, let peer): enqueue(.store(bytes, peer))
        case .serve(let want, let peer): enqueue(.serve(want, peer))
        case .settle(let want, let peer): enqueue(.settle(want, peer))
        case .emit(let lines): for line in lines { show(line) }
        case .reply(let command, let reply): self.reply(command, reply)
        case .replyStored(let appended, let receivers):
            for entry in appended {
                reply(entry.command, .stored(entry.id, number: entry.number, receivers: receivers))
            }
        case .wake(let time): wake(at: time)
        case .log, .peer, .remember, .note, .update, .transfer, .sendBlob, .beginBlob, .setHashes, .writePiece,
            .serveBlob, .abandonBlob, .place, .shutOut, .judge, .verify, .forget, .held, .enroll, .answer, .asked,
            .verified,
            .signReceipt, .verifyReceipt, .keepReceipt, .expect, .admit:
            break
        }
    }

    private func wake(at time: UInt64) {
        wakeTime = time
        later(time > world.now ? time - world.now : 0) { host in
            guard host.wakeTime == time else { return }
            host.wakeTime = nil
            host.take(.tick)
        }
    }

    private func dial(_ number: DialNumber, _ target: DialTarget, _ isReplacing: Bool) {
        guard case .peer(let peer, _) = target, let other = world.host(of: peer) else { return }
        let life = life
        world.dial(other, from: self, replacing: isReplacing ? kept[other.index] : nil) { [self] outcome in
            if self.life == life, isRunning { unlessStopped { [self] in take(.dialled(number, outcome)) } }
        }
    }

    private func show(_ line: Transcript) {
        if case .notice(let text) = line.content {
            guard text.hasSuffix("rollback or copied key"), let other = world.host(of: line.peer) else { return }
            world.note(3, UInt64(index), UInt64(other.index))
            if !world.record.doubtful.contains(other.index) {
                world.violated("host \(index) says that host \(other.index) has two histories")
            }
            return
        }
        guard let id = line.id else { return }
        world.note(4, UInt64(index), id.digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        if !screen.insert(id).inserted { world.violated("host \(index) shows an event twice") }
        let isDurable = durable.logs.contains { $0.key.author == line.peer && $0.value.allIDs.contains(id) }
        if !isDurable { world.violated("host \(index) shows an event that isn't on its disk") }
    }

    // MARK: The disk

    private func append(_ event: BatchEvent, _ command: CommandID) {
        var event = event
        if isHonest {
            if !isFresh, !wasLinked, world.now < startTime + 2_000 {
                world.violated("host \(index) speaks before anybody could tell what it said before")
            }
            if event.clock <= seen { world.violated("host \(index) speaks before what it had seen") }
            let limit = UInt64(max(0, 1_700_000_000_000 + Int64(world.now) + latestOffset)) + 600_001
            if event.clock.milliseconds > limit { world.violated("host \(index) was pulled into the future") }
        }
        if role == .clockLiar { event.clock = HybridTime(value: world.chance.next() >> world.chance.among(0...40)) }
        seen = max(seen, event.clock)
        if world.flaw == .droppedDraft, isWorking { return }
        drafts.append((event, command))
        if drafts.count == 1 { enqueue(.commit) }
    }

    func saw(_ clock: HybridTime) { seen = max(seen, clock) }

    private func enqueue(_ item: Work) {
        work.append(item)
        if !isWorking { begin() }
    }

    private func begin() {
        guard let first = work.first else { return }
        isWorking = true
        prepare(first)
        let pause = world.now < slowUntil ? slowUntil - world.now : 0
        later(pause + world.chance.among(0...3)) { host in
            host.isWorking = false
            guard !host.work.isEmpty else { return }
            let item = host.work.removeFirst()
            host.finish(item)
            if !host.isWorking { host.begin() }
        }
    }
}
