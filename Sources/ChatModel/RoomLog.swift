import Identity

/// One log as this host holds it.
struct Log {
    var ranges: EventRanges
    /// The batch that contradicts ours; nothing more of the log is taken.
    var proof: Batch?
    /// How often the proof was sent again to those who don't confirm it.
    var proofRounds: UInt64 = 0
    /// What was asked for and hasn't been answered, each of another holder.
    var asked: [PeerID: ClosedRange<UInt64>] = [:]
    /// Holders that didn't deliver; they are asked last.
    var failed: [PeerID: Failure] = [:]
    private var failures: UInt64 = 0

    init(_ ranges: EventRanges = EventRanges()) { self.ranges = ranges }

    /// That a holder didn't deliver.
    struct Failure {
        /// Between which numbers it doesn't have what it should.
        var numbers: ClosedRange<UInt64>
        /// Rises with each failure of any holder.
        var turn: UInt64
    }

    mutating func fail(_ holder: PeerID, at number: UInt64) {
        let known = failed[holder]?.numbers ?? number...number
        failures += 1
        failed[holder] = Failure(
            numbers: min(known.lowerBound, number)...max(known.upperBound, number), turn: failures)
    }

    /// The highest number that we hold.
    var last: UInt64 { ranges.last }
    /// Two histories under one key were shown.
    var isForked: Bool { proof != nil }
}

// Own events
extension RoomState {
    mutating func say(_ saying: Saying) {
        if !holdsBack(saying) { append(saying) }
    }

    mutating func append(_ saying: Saying) {
        clock = max(HybridTime(milliseconds: wall), clock.next)
        let event = BatchEvent(
            kind: saying.body.kind, nonce: saying.nonce, clock: clock, wallTime: wall,
            body: saying.body.encoded(authorName: displayName))
        let draft = Draft(event: event, isNonceNew: saying.isNonceNew, command: saying.command)
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

    /// Sends a batch to everybody who was told or pushed all before it, unless too much of that isn't confirmed.
    private mutating func push(_ batch: Batch) {
        for peer in linked {
            guard let known = peers[peer], known.isIntroduced, known.pushed + 1 == batch.first,
                known.unconfirmed.count + batch.events.count <= limits.pushAhead,
                known.unconfirmed.length <= limits.pushAheadLength
            else { continue }
            peers[peer]?.pushed = batch.last
            peers[peer]?.unconfirmed.add(batch)
            effects.append(.send(peer, [.batch(batch.bytes)]))
        }
    }
}

/// What was pushed to a peer and isn't confirmed by its Have.
struct Unconfirmed {
    private var batches: [(last: UInt64, count: Int, length: Int)] = []
    /// Of events.
    private(set) var count = 0
    /// In bytes.
    private(set) var length = 0

    mutating func add(_ batch: Batch) {
        batches.append((batch.last, batch.events.count, batch.bytes.count))
        count += batch.events.count
        length += batch.bytes.count
    }

    mutating func confirm(_ held: EventRanges) {
        batches.removeAll { held.contains($0.last) }
        count = batches.reduce(0) { $0 + $1.count }
        length = batches.reduce(0) { $0 + $1.length }
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
            case .stored(let news):
                took(batch, news, from: peer)
                if logs[batch.log]?.ranges.range(with: batch.last)?.numbers.lowerBound ?? 1 > 1 {
                    learn(batch, from: peer)
                    want(batch.log)
                }
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

    /// A push beyond what we have tells that its author has what was before.
    private mutating func learn(_ batch: Batch, from peer: PeerID) {
        guard batch.log.author == peer, batch.log.isForRoom, peers[peer]?.isLinked == true else { return }
        let range = EventRange(numbers: 1...batch.last, lastID: batch.lastID)
        if batch.last > peers[peer]?.have[batch.log]?.last ?? 0 { peers[peer]?.have[batch.log] = EventRanges([range]) }
    }

    private mutating func advance(_ batch: Batch) {
        logs[batch.log, default: Log()].ranges.insert(EventRange(numbers: batch.numbers, lastID: batch.lastID))
    }

    private mutating func took(_ batch: Batch, _ news: [NewEvents], from peer: PeerID) {
        advance(batch)
        if logs[batch.log]?.failed[peer]?.numbers.overlaps(batch.numbers) == true {
            logs[batch.log]?.failed[peer] = nil
        }
        if logs[batch.log]?.asked[peer]?.overlaps(batch.numbers) == true {
            set(.wantTimeout(batch.log, peer), after: limits.wantTimeout)
        }
        for run in news {
            let first = Int(clamping: run.numbers.lowerBound - batch.first)
            let fresh = batch.events[first..<first + run.numbers.count]
            advanceClock(to: fresh.lazy.map(\.clock).max() ?? clock)
            wrote(batch.log.author, at: fresh.lazy.map(\.wallTime).max() ?? 0)
            show(batch, fresh, arrival: run.arrival)
        }
        say(batch.log)
    }

    /// Shows events of a batch that are new; what stands between two of them, such as a word about their author, is said there.
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
            line.arrival = arrival.map { $0 + Int64(index - fresh.startIndex) }
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
