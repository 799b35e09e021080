import Identity

// What we tell others that we have
extension RoomState {
    mutating func introduce(to peer: PeerID) {
        let entries = logs.keys.sorted().filter { isKnown($0, to: peer) }.compactMap(entry)
        effects.append(.send(peer, Have.pages(entries).map { .have($0) }))
    }

    func entry(_ id: LogID) -> Have.Entry? {
        guard let log = logs[id], !log.ranges.isEmpty, !isBlocked(id.author) else { return nil }
        return Have.Entry(log: id, ranges: log.ranges.all, isForked: log.isForked)
    }

    mutating func say(_ log: LogID) {
        unsaid.insert(log)
        noteForReceipt(log)
        if !timers.isSet(.flushHave) { set(.flushHave, after: limits.haveDelay) }
    }

    mutating func flushHave() {
        tell(unsaid) { state, entry, peer in
            guard !entry.isForked, state.isFed(peer, entry.log) else { return true }
            state.unsaidSlowly.insert(entry.log)
            return false
        }
        unsaid = []
        guard !unsaidSlowly.isEmpty, !timers.isSet(.flushSlowHave) else { return }
        set(.flushSlowHave, after: limits.slowHaveDelay - min(limits.haveDelay, limits.slowHaveDelay))
    }

    /// Tells whoever lacks something: who seemed to be fed may not be any more.
    mutating func flushSlowHave() {
        tell(unsaidSlowly) { _, _, _ in true }
        unsaidSlowly = []
    }

    /// An author is gone: what others have of it is now of use to those who lack some.
    mutating func sayNow(of author: PeerID) {
        let logs = unsaidSlowly.filter { $0.author == author }
        if logs.isEmpty { return }
        unsaid.formUnion(logs)
        if !timers.isSet(.flushHave) { set(.flushHave, after: limits.haveDelay) }
    }

    private mutating func tell(
        _ logs: Set<LogID>, where isMeant: (inout RoomState, Have.Entry, PeerID) -> Bool
    ) {
        let entries = logs.sorted().compactMap(entry)
        for peer in linked {
            let news = entries.filter {
                isKnown($0.log, to: peer) && isNews($0, to: peer) && isMeant(&self, $0, peer)
            }
            if !news.isEmpty { effects.append(.send(peer, Have.pages(news).map { .have($0) })) }
        }
    }

    /// A direct log is nobody's business but its two ends'.
    func isKnown(_ log: LogID, to peer: PeerID) -> Bool {
        log.isForRoom || log.author == peer || log.audience == peer.key
    }

    /// Whether a peer gets all of a log without our word: we push it, or it seems to get it where we do, since its author is
    /// linked with us, and the peer has events of it that it didn't ask us for.
    private func isFed(_ peer: PeerID, _ log: LogID) -> Bool {
        guard let known = peers[peer] else { return false }
        if log == ownLog { return known.pushed >= logs[log]?.last ?? 0 }
        guard log.author != me, log.author != peer, peers[log.author]?.isLinked == true else { return false }
        return (known.have[log]?.last ?? 0) > known.wanted[log] ?? 0
    }

    private func isNews(_ entry: Have.Entry, to peer: PeerID) -> Bool {
        guard let known = peers[peer], known.have[entry.log]?.all == entry.ranges else { return true }
        return entry.isForked && !known.convinced.contains(entry.log)
    }
}
