import Identity

/// One log as this host holds it: events 1 to `last`.
struct Log {
    var last: UInt64
    var lastID: EventID
    /// The batch that contradicts ours; nothing more of the log is taken.
    var proof: Batch?
    /// How often the proof was sent again to those who don't confirm it.
    var proofRounds: UInt64 = 0
    /// What was asked for and hasn't been answered.
    var asked: (holder: PeerID, numbers: ClosedRange<UInt64>)?
    /// Holders that didn't deliver, asked last.
    var failed: Set<PeerID> = []

    init(last: UInt64, lastID: EventID) {
        self.last = last
        self.lastID = lastID
    }

    /// Two histories under one key were shown.
    var isForked: Bool { proof != nil }
}

/// Logs that wait, each once, first come first.
struct WaitingLogs {
    private(set) var logs: [LogID] = []
    private var members: Set<LogID> = []

    mutating func add(_ log: LogID) { if members.insert(log).inserted { logs.append(log) } }

    mutating func takeAll() -> [LogID] {
        defer { self = WaitingLogs() }
        return logs
    }
}

/// What this host's user wants said, before it has a clock.
struct Own {
    var body: EventBody
    var nonce: Nonce
    var isNonceNew = false
    var command: CommandID
}

extension Own {
    init(_ saying: Saying) {
        self.init(
            body: .text(saying.text), nonce: saying.nonce, isNonceNew: saying.isNonceNew, command: saying.command)
    }
}

// Own events
extension RoomState {
    mutating func say(_ own: Own) {
        if !holdsBack(own) { append(own) }
    }

    mutating func append(_ own: Own) {
        clock = max(HybridTime(milliseconds: wall), clock.next)
        let event = BatchEvent(
            kind: own.body.kind, nonce: own.nonce, clock: clock, wallTime: wall,
            body: own.body.encoded(authorName: displayName))
        let draft = Draft(event: event, isNonceNew: own.isNonceNew, command: own.command)
        guard case .append(var drafts)? = effects.last else { return effects.append(.append([draft])) }
        effects.removeLast()
        drafts.append(draft)
        effects.append(.append(drafts))
    }

    mutating func appended(_ appended: [Appended], _ batches: [Batch]) {
        for batch in batches {
            follow(batch.log)
            advance(batch)
            enroll(from: batch.first)
            push(batch)
            show(batch, arrival: appended.first { $0.number == batch.first && !$0.isRepeated }?.arrival)
        }
        if !appended.isEmpty {
            let receivers = Dictionary(uniqueKeysWithValues: linked.map { ($0, name(of: $0)) })
            effects.append(.replyStored(appended, receivers: receivers))
        }
        if !batches.isEmpty { say(ownLog) }
    }

    private mutating func show(_ batch: Batch, arrival: Int64?) {
        var former = EventBody.FormerName()
        var lines: [Transcript] = []
        for (index, event) in batch.events.enumerated() {
            let id = batch.ids[index]
            guard var line = Transcript(event, id: id, by: me, isOwn: true, image: .sending, &former) else { continue }
            line.arrival = arrival.map { $0 + Int64(index) }
            if case .image(let image, _) = line.content {
                emit(lines)
                lines = []
                send(line, image, id)
            } else {
                lines.append(line)
            }
        }
        emit(lines)
    }

    /// Sends a batch to everybody who has all before it, unless it is too far ahead of what they confirmed.
    private mutating func push(_ batch: Batch) {
        for peer in linked {
            guard let known = peers[peer], known.isIntroduced, known.pushed + 1 == batch.first else { continue }
            let confirmed = known.have[ownLog]?.numbers.upperBound ?? 0
            let length = known.unconfirmed.reduce(0) { $0 + $1.length }
            guard batch.last - confirmed <= limits.pushAhead, length <= limits.pushAheadLength else { continue }
            peers[peer]?.pushed = batch.last
            peers[peer]?.unconfirmed.append((batch.last, batch.bytes.count))
            effects.append(.send(peer, [.batch(batch.bytes)]))
        }
    }
}

// What peers have, and what we want of it
extension RoomState {
    mutating func have(_ have: Have, from peer: PeerID) {
        guard let known = peers[peer], known.isLinked else { return }
        let isFirst = !known.isIntroduced
        for entry in have.entries where entry.log.isForRoom {
            let count = max(logs.count, peers[peer]?.have.count ?? 0)
            guard logs[entry.log] != nil || count < limits.maximumLogs else { continue }
            // This version holds runs from 1 on; what a peer has beyond a gap of its own is asked for when it is closed.
            peers[peer]?.have[entry.log] = entry.ranges.first { $0.numbers.lowerBound == 1 }
            if entry.isForked { peers[peer]?.convinced.insert(entry.log) }
        }
        if let own = peers[peer]?.have[ownLog] { confirm(own.numbers.upperBound, by: peer) }
        holds(peer, have.entries)
        if isFirst, !have.isContinued {
            peers[peer]?.isIntroduced = true
            holdsNoMore(peer, than: Set((peers[peer]?.have ?? [:]).keys))
        }
        for entry in have.entries {
            // An author pushes by itself: ask only if that doesn't come.
            let isPushed = !isFirst && peers[entry.log.author]?.isLinked == true
            if !isPushed { want(entry.log) } else if lacks(entry.log, peer) { wantLater(entry.log) }
        }
        compare(have, of: peer)
        releaseIfTold()
    }

    private mutating func confirm(_ last: UInt64, by peer: PeerID) {
        peers[peer]?.unconfirmed.removeAll { $0.last <= last }
        let pushed = peers[peer]?.pushed ?? 0
        peers[peer]?.pushed = max(pushed, last)
    }

    /// Whoever is about to catch up with our own log gets what was added meanwhile too, and is pushed what follows.
    mutating func serve(_ want: Want, to peer: PeerID) {
        if isBlocked(want.log.author) { return effects.append(.send(peer, [.answered(want)])) }
        guard isKnown(want.log, to: peer) else { return }
        if logs[want.log] != nil {
            let last = peers[peer]?.wanted[want.log] ?? 0
            peers[peer]?.wanted[want.log] = max(last, want.numbers.upperBound)
        }
        effects.append(.serve(want, to: peer))
        guard want.log == ownLog, let last = logs[ownLog]?.last, let pushed = peers[peer]?.pushed,
            want.numbers.lowerBound <= last, last - want.numbers.lowerBound < Batch.maximumCount
        else { return }
        peers[peer]?.pushed = max(pushed, last)
        if want.numbers.upperBound < last {
            effects.append(.serve(Want(log: ownLog, numbers: want.numbers.upperBound + 1...last), to: peer))
        }
    }

    private func lacks(_ log: LogID, _ holder: PeerID) -> Bool {
        (peers[holder]?.have[log]?.numbers.upperBound ?? 0) > (logs[log]?.last ?? 0)
    }

    /// Whether a peer ends where we do, with another event.
    private func contradicts(_ log: LogID, _ holder: PeerID) -> Bool {
        guard let end = peers[holder]?.have[log], let ours = logs[log] else { return false }
        return end.numbers.upperBound == ours.last && end.lastID != ours.lastID
    }

    private mutating func wantLater(_ log: LogID) {
        if !timers.isSet(.want(log)), logs[log]?.asked == nil { set(.want(log), after: limits.wantDelay) }
    }

    /// Asks one holder for what comes next in a log, unless that is under way.
    mutating func want(_ id: LogID) {
        timers.cancel(.want(id))
        guard isHeard(id.author) else { return }
        guard logs[id] != nil || linked.contains(where: { lacks(id, $0) }) && makePlace(for: id), var log = logs[id],
            !log.isForked, log.asked == nil
        else { return }
        let holders = linked.filter { lacks(id, $0) || contradicts(id, $0) }
        if holders.allSatisfy(log.failed.contains) { log.failed = [] }
        let able = holders.filter { !log.failed.contains($0) }
        guard let holder = choose(able.filter { wanted(of: $0) < limits.wantAhead }, preferring: id.author),
            let end = peers[holder]?.have[id]?.numbers.upperBound
        else { return able.isEmpty ? forget(id) : waitingWants.add(id) }
        // Where ends contradict each other, the other one is the proof.
        let length = min(limits.wantLength, limits.wantAhead - wanted(of: holder))
        let numbers = end == log.last ? end...end : log.last + 1...log.last + min(end - log.last, length)
        log.asked = (holder, numbers)
        wantedEvents[holder, default: 0] += UInt64(numbers.count)
        expect(id.author)
        logs[id] = log
        effects.append(.send(holder, [.want(Want(log: id, numbers: numbers))]))
        set(.wantTimeout(id), after: limits.wantTimeout)
    }

    /// The author if it is among them, else one by chance, so that many who want spread over many who have.
    private mutating func choose(_ holders: [PeerID], preferring author: PeerID) -> PeerID? {
        holders.contains(author) ? author : holders.randomElement(using: &random)
    }

    mutating func answered(_ want: Want, by peer: PeerID) {
        guard let asked = logs[want.log]?.asked, asked.holder == peer, asked.numbers == want.numbers else { return }
        let last = logs[want.log]?.last ?? 0
        let isUseless = last < want.numbers.lowerBound || last == want.numbers.upperBound && contradicts(want.log, peer)
        settle(want.log, blaming: isUseless ? peer : nil)
    }

    mutating func wantTimedOut(_ log: LogID) {
        guard let asked = logs[log]?.asked else { return }
        settle(log, blaming: asked.holder)
    }

    private mutating func settle(_ log: LogID, blaming holder: PeerID?) {
        let freed = logs[log]?.asked?.holder
        endWant(log)
        if let holder {
            logs[log]?.failed.insert(holder)
            // Whoever failed is asked again only after a pause, also when nobody else has it.
            set(.want(log), after: limits.wantDelay)
        } else {
            waitingWants.add(log)
        }
        if let freed { goOnWanting(from: freed) }
    }

    /// Asks for what waits, in its turn, so that a long log keeps no short one waiting.
    private mutating func goOnWanting(from holder: PeerID) {
        var waiting = waitingWants.takeAll()[...]
        while wanted(of: holder) < limits.wantAhead, let log = waiting.popFirst() { want(log) }
        for log in waiting { waitingWants.add(log) }
    }

    /// How many events a holder has been asked for that haven't come.
    ///
    /// All of it lies between its disk and ours when what it says next is sent, and delays that.
    private func wanted(of holder: PeerID) -> UInt64 { wantedEvents[holder] ?? 0 }

    /// Asks for nothing of a log any more; whoever waits for its place has to be tried (``wantWaiting()``).
    mutating func endWant(_ log: LogID) {
        timers.cancel(.wantTimeout(log))
        guard let asked = logs[log]?.asked else { return }
        logs[log]?.asked = nil
        let left = wanted(of: asked.holder) - min(wanted(of: asked.holder), UInt64(asked.numbers.count))
        wantedEvents[asked.holder] = left > 0 ? left : nil
    }

    /// Tries soon what waits for a place among the wants.
    mutating func wantWaiting() {
        for log in waitingWants.logs where !timers.isSet(.want(log)) { set(.want(log), after: 0) }
    }

    /// Drops what is known of a log of which we have nothing, and nobody here anything to give.
    mutating func forget(_ log: LogID) {
        guard logs[log]?.last == 0, logs[log]?.isForked == false else { return }
        logs[log] = nil
        expectNoMore(log.author)
    }

    mutating func forgetWants(from peer: PeerID) {
        for log in logs.filter({ $0.value.asked?.holder == peer }).keys.sorted() {
            endWant(log)
            set(.want(log), after: 0)
        }
        wantWaiting()
    }
}

// Events of others
extension RoomState {
    mutating func stored(_ batches: [StoredBatch], from peer: PeerID) {
        var grown: Set<LogID> = []
        for stored in batches {
            let batch = stored.batch
            switch stored.result {
            case .known: break
            case .gap:
                learn(batch, from: peer)
                want(batch.log)
            case .forked: fork(batch)
            case .stored(let first):
                took(batch, from: first, arrival: stored.arrival)
                grown.insert(batch.log)
            }
        }
        releaseIfTold()
        let entries = grown.sorted().filter { isKnown($0, to: peer) }.compactMap(entry)
        if !entries.isEmpty, peers[peer]?.isLinked == true {
            effects.append(.send(peer, Have.pages(entries).map { .have($0) }))
        }
        tellAuthors(of: grown, but: peer)
    }

    /// An author wants to know who has what it said, wherever that came from.
    private mutating func tellAuthors(of grown: Set<LogID>, but sender: PeerID) {
        for log in grown.sorted() where log.author != sender && peers[log.author]?.isLinked == true {
            guard isKnown(log, to: log.author), let entry = entry(log) else { continue }
            effects.append(.send(log.author, [.have(Have(entries: [entry]))]))
        }
    }

    /// A push beyond what we have tells that its author has more than it said.
    private mutating func learn(_ batch: Batch, from peer: PeerID) {
        guard batch.log.author == peer, batch.log.isForRoom, peers[peer]?.isLinked == true,
            batch.last > peers[peer]?.have[batch.log]?.numbers.upperBound ?? 0
        else { return }
        peers[peer]?.have[batch.log] = EventRange(numbers: 1...batch.last, lastID: batch.lastID)
    }

    private mutating func advance(_ batch: Batch) {
        logs[batch.log, default: Log(last: 0, lastID: .none)].last = batch.last
        logs[batch.log]?.lastID = batch.lastID
    }

    private mutating func took(_ batch: Batch, from first: UInt64, arrival: Int64?) {
        advance(batch)
        logs[batch.log]?.failed = []
        if logs[batch.log]?.asked != nil { set(.wantTimeout(batch.log), after: limits.wantTimeout) }
        let fresh = batch.events[Int(clamping: first - min(first, batch.first))...]
        advanceClock(to: fresh.lazy.map(\.clock).max() ?? clock)
        wrote(batch.log.author, at: fresh.lazy.map(\.wallTime).max() ?? 0)
        show(batch, fresh, arrival: arrival)
        say(batch.log)
    }

    /// Shows a batch's newest events; what stands between two of them, such as a word about their author, is said there.
    private mutating func show(_ batch: Batch, _ fresh: ArraySlice<BatchEvent>, arrival: Int64?) {
        var former = EventBody.FormerName()
        var lines: [Transcript] = []
        lines.reserveCapacity(fresh.count)
        var name: String?
        for (index, event) in zip(fresh.indices, fresh) {
            guard
                var line = Transcript(
                    event, id: batch.ids[index], by: batch.log.author, isOwn: batch.log.author == me, &former)
            else { continue }
            line.arrival = arrival.map { $0 + Int64(index) }
            line.timing = .init(of: event.clock, arrived: wall, clockLead: limits.clockLead)
            let image =
                if case .image(let image, _) = line.content, line.direction == .receive { image } else {
                    nil as ImageInfo?
                }
            if line.name != name || image != nil {
                emit(lines)
                lines.removeAll(keepingCapacity: true)
                name = line.name
                heard(of: line.peer, line.name)
            }
            if let image { imageArrived(line, image) } else { lines.append(line) }
        }
        emit(lines)
    }

    private mutating func advanceClock(to received: HybridTime) {
        clock = max(clock, min(received, HybridTime(milliseconds: wall.adding(limits.clockLead))))
    }

}
