import Identity

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

// What peers have
extension RoomState {
    mutating func have(_ have: Have, from peer: PeerID) {
        guard let known = peers[peer], known.isLinked else { return }
        let isFirst = !known.isIntroduced
        for entry in have.entries where entry.log.isForRoom {
            let count = max(logs.count, peers[peer]?.have.count ?? 0)
            guard logs[entry.log] != nil || count < limits.maximumLogs else { continue }
            learn(entry, of: peer)
            if entry.isForked { peers[peer]?.convinced.insert(entry.log) }
        }
        if let own = peers[peer]?.have[ownLog] { confirm(own, by: peer) }
        holds(peer, have.entries.filter(\.log.isForRoom).map(\.log))
        if isFirst, !have.isContinued { introduced(peer) }
        for entry in have.entries {
            // An author pushes by itself: ask only if that doesn't come.
            let isPushed = !isFirst && peers[entry.log.author]?.isLinked == true
            let offers = lacks(entry.log, peer) || contradiction(entry.log, peer) != nil
            if offers { if isPushed { wantLater(entry.log) } else { want(entry.log) } }
        }
        compare(have, of: peer)
        releaseIfTold()
    }

    /// Takes what a peer says that it has of a log, in place of what it said before.
    ///
    /// While it is linked, that only grows. If it seems to shrink, the word was under way on a link that broke since.
    private mutating func learn(_ entry: Have.Entry, of peer: PeerID) {
        let said = EventRanges(entry.ranges)
        guard var known = peers[peer]?.have[entry.log], !said.missing(of: known).isEmpty else {
            peers[peer]?.have[entry.log] = said.isEmpty ? nil : said
            return
        }
        for range in said.all { known.insert(range) }
        // Of what only grows, two words together are no more than the later one: who says other things lies.
        peers[peer]?.have[entry.log] = known.all.count <= EventRanges.maximumCount ? known : said
    }

    /// All that a peer has is known: from here on it is pushed what we say.
    private mutating func introduced(_ peer: PeerID) {
        peers[peer]?.isIntroduced = true
        holdsNoMore(peer, than: Set((peers[peer]?.have ?? [:]).keys))
        goOnPushing(to: peer)
    }

    private mutating func confirm(_ held: EventRanges, by peer: PeerID) {
        peers[peer]?.unconfirmed.confirm(held)
        let pushed = peers[peer]?.pushed ?? 0
        peers[peer]?.pushed = max(pushed, held.last)
    }

    /// Sends own events that came since those that were told or pushed, if they are few, so that the next ones are pushed.
    private mutating func goOnPushing(to peer: PeerID) {
        guard let last = logs[ownLog]?.last, let pushed = peers[peer]?.pushed, last > pushed,
            last - pushed < Batch.maximumCount
        else { return }
        peers[peer]?.pushed = last
        effects.append(.serve(Want(log: ownLog, numbers: pushed + 1...last), to: peer))
    }

    /// Whoever asks for own events that weren't pushed to it gets what was added meanwhile too.
    mutating func serve(_ want: Want, to peer: PeerID) {
        if isBlocked(want.log.author) { return effects.append(.send(peer, [.answered(want)])) }
        guard isKnown(want.log, to: peer) else { return }
        if logs[want.log] != nil {
            let last = peers[peer]?.wanted[want.log] ?? 0
            peers[peer]?.wanted[want.log] = max(last, want.numbers.upperBound)
        }
        effects.append(.serve(want, to: peer))
        guard want.log == ownLog, let known = peers[peer], known.isIntroduced, want.numbers.upperBound > known.pushed,
            want.numbers.upperBound <= logs[ownLog]?.last ?? 0
        else { return }
        peers[peer]?.pushed = want.numbers.upperBound
        goOnPushing(to: peer)
    }
}

// What we want of it
extension RoomState {
    /// What a peer has of a log and we haven't, ascending.
    private func lacking(_ log: LogID, of holder: PeerID) -> [ClosedRange<UInt64>] {
        guard let theirs = peers[holder]?.have[log] else { return [] }
        return (logs[log]?.ranges ?? EventRanges()).missing(of: theirs)
    }

    private func lacks(_ log: LogID, _ holder: PeerID) -> Bool { !lacking(log, of: holder).isEmpty }

    /// Where a range of a peer's ends as one of ours does, with another event.
    private func contradiction(_ log: LogID, _ holder: PeerID) -> UInt64? {
        guard let theirs = peers[holder]?.have[log], let ours = logs[log]?.ranges else { return nil }
        return theirs.all.last { range in
            ours.all.contains { $0.numbers.upperBound == range.numbers.upperBound && $0.lastID != range.lastID }
        }?.numbers.upperBound
    }

    private mutating func wantLater(_ log: LogID) {
        if !timers.isSet(.want(log)), logs[log]?.asked.isEmpty != false { set(.want(log), after: limits.wantDelay) }
    }

    /// Asks for what we lack of a log, the newest first, so far as that isn't under way.
    mutating func want(_ id: LogID) {
        timers.cancel(.want(id))
        guard isHeard(id.author) else { return }
        guard logs[id] != nil || linked.contains(where: { lacks(id, $0) }) && makePlace(for: id),
            logs[id]?.isForked == false
        else { return }
        while (logs[id]?.asked.count ?? 0) < limits.wantsOfOneLog, ask(for: id) {}
    }

    /// Asks one holder more.
    ///
    /// - Returns: Whether there was something to ask for, and somebody to ask.
    private mutating func ask(for id: LogID) -> Bool {
        let able = wishes(id)
        if able.isEmpty {
            if logs[id]?.asked.isEmpty == true { forget(id) }
            return false
        }
        // Who owes much keeps nobody from asking others, whatever it claims.
        let free = able.filter { wanted(of: $0.holder) < limits.wantAhead }
        let newest = free.map(\.numbers.upperBound).max()
        let holders = free.filter { $0.numbers.upperBound == newest }
        guard let holder = choose(holders.map(\.holder), preferring: id.author),
            let numbers = holders.first(where: { $0.holder == holder })?.numbers
        else {
            waitingWants.add(id)
            return false
        }
        logs[id]?.asked[holder] = numbers
        wantedEvents[holder, default: 0] += UInt64(numbers.count)
        expect(id.author)
        effects.append(.send(holder, [.want(Want(log: id, numbers: numbers))]))
        set(.wantTimeout(id, holder), after: limits.wantTimeout)
        return true
    }

    /// What may be asked of whom who isn't asked yet.
    ///
    /// Those who failed come by turns, and only while nobody else is there: one who claims the most keeps none from being asked.
    private func wishes(_ id: LogID) -> [(holder: PeerID, numbers: ClosedRange<UInt64>)] {
        guard let log = logs[id] else { return [] }
        let all = linked.compactMap { holder in
            log.asked[holder] == nil ? wish(log, id, of: holder).map { (holder: holder, numbers: $0) } : nil
        }
        let sound = all.filter { log.failed[$0.holder] == nil }
        if !sound.isEmpty || !log.asked.isEmpty || log.failed.isEmpty { return sound }
        return all.min { turn($0.holder, log) < turn($1.holder, log) }.map { [$0] } ?? []
    }

    private func turn(_ holder: PeerID, _ log: Log) -> UInt64 { log.failed[holder]?.turn ?? 0 }

    /// What a holder is to be asked for next; what it didn't give before only when there is nothing else.
    private func wish(_ log: Log, _ id: LogID, of holder: PeerID) -> ClosedRange<UInt64>? {
        let failed = log.failed[holder]?.numbers
        return part(of: log, id, from: holder, leavingOut: failed)
            ?? failed.flatMap { _ in part(of: log, id, from: holder, leavingOut: nil) }
    }

    /// What a holder has that nobody was asked for.
    ///
    /// The newest; while there are many ranges already, what goes on from the end of one, else what
    /// is directly below one. Where an end contradicts ours, that event is the proof.
    private func part(
        of log: Log, _ id: LogID, from holder: PeerID, leavingOut failed: ClosedRange<UInt64>?
    ) -> ClosedRange<UInt64>? {
        var lacking = lacking(id, of: holder)
        for numbers in log.asked.values { lacking = lacking.flatMap { $0.without(numbers) } }
        if let failed { lacking = lacking.flatMap { $0.without(failed) } }
        let length = min(limits.wantLength, max(1, limits.wantAhead - min(limits.wantAhead, wanted(of: holder))))
        let ends = log.ranges.all.map(\.numbers.upperBound) + log.asked.values.map(\.upperBound)
        let islands = log.asked.values.count { !log.ranges.contains($0.lowerBound - 1) }
        if log.ranges.all.count + islands >= EventRanges.maximumCount {
            if let next = lacking.last(where: { ends.contains($0.lowerBound - 1) }) { return next.prefix(length) }
            // One event, whose batch reaches the range behind it: an answer to more begins with what doesn't.
            let starts = log.ranges.all.map(\.numbers.lowerBound)
            lacking = lacking.filter { starts.contains($0.upperBound + 1) }.map { $0.suffix(1) }
        }
        if let newest = lacking.last { return newest.suffix(length) }
        return contradiction(id, holder).flatMap { failed?.contains($0) == true ? nil : $0...$0 }
    }

    /// The author if it is among them, else one by chance, so that many who want spread over many who have.
    private mutating func choose(_ holders: [PeerID], preferring author: PeerID) -> PeerID? {
        holders.contains(author) ? author : holders.randomElement(using: &random)
    }

    mutating func answered(_ want: Want, by peer: PeerID) {
        guard let log = logs[want.log], log.asked[peer] == want.numbers else { return }
        let isUseless =
            !log.ranges.contains(want.numbers.lowerBound) || contradiction(want.log, peer) == want.numbers.lowerBound
        settle(want.log, askedOf: peer, isFailed: isUseless)
    }

    mutating func wantTimedOut(_ log: LogID, _ holder: PeerID) {
        if logs[log]?.asked[holder] != nil { settle(log, askedOf: holder, isFailed: true) }
    }

    private mutating func settle(_ log: LogID, askedOf holder: PeerID, isFailed: Bool) {
        let numbers = endWant(log, askedOf: holder)
        if isFailed {
            if let first = numbers?.lowerBound { logs[log]?.fail(holder, at: first) }
            // Whoever failed is asked again only after a pause, also when nobody else has it.
            set(.want(log), after: limits.wantDelay)
        } else {
            waitingWants.add(log)
        }
        goOnWanting(from: holder)
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

    /// Asks a holder for nothing of a log any more; whoever waits for its place has to be tried (``wantWaiting()``).
    ///
    /// - Returns: What it was asked for.
    @discardableResult private mutating func endWant(_ log: LogID, askedOf holder: PeerID) -> ClosedRange<UInt64>? {
        timers.cancel(.wantTimeout(log, holder))
        guard let numbers = logs[log]?.asked.removeValue(forKey: holder) else { return nil }
        let left = wanted(of: holder) - min(wanted(of: holder), UInt64(numbers.count))
        wantedEvents[holder] = left > 0 ? left : nil
        return numbers
    }

    /// Asks nobody for a log any more.
    mutating func endWants(_ log: LogID) {
        for holder in (logs[log]?.asked ?? [:]).keys.sorted() { endWant(log, askedOf: holder) }
    }

    /// Tries soon what waits for a place among the wants.
    mutating func wantWaiting() {
        for log in waitingWants.logs where !timers.isSet(.want(log)) { set(.want(log), after: 0) }
    }

    /// Drops what is known of a log of which we have nothing, and nobody here anything to give.
    mutating func forget(_ log: LogID) {
        guard logs[log]?.ranges.isEmpty == true, logs[log]?.isForked == false else { return }
        logs[log] = nil
        expectNoMore(log.author)
    }

    mutating func forgetWants(from peer: PeerID) {
        for log in logs.filter({ $0.value.asked[peer] != nil }).keys.sorted() {
            endWant(log, askedOf: peer)
            set(.want(log), after: 0)
        }
        wantWaiting()
    }
}

extension ClosedRange<UInt64> {
    /// At most so many from the front.
    fileprivate func prefix(_ count: UInt64) -> Self {
        lowerBound...Swift.min(upperBound, lowerBound.adding(count - 1))
    }

    /// At most so many from the end.
    fileprivate func suffix(_ count: UInt64) -> Self {
        Swift.max(lowerBound, upperBound - Swift.min(upperBound, count - 1))...upperBound
    }

    /// What is left of it.
    fileprivate func without(_ other: Self) -> [Self] {
        guard overlaps(other) else { return [self] }
        var rest: [Self] = []
        if lowerBound < other.lowerBound { rest.append(lowerBound...other.lowerBound - 1) }
        if upperBound > other.upperBound { rest.append(other.upperBound + 1...upperBound) }
        return rest
    }
}
