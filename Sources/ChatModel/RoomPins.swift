import Addressing
import Identity

// Whose name is whose
extension RoomState {
    /// Pins a peer's name to its key, on a link of our own.
    mutating func pin(_ peer: PeerID, _ name: String) {
        var record = peers[peer]?.record ?? PeerRecord(name: name, namedSince: wall)
        let known = record.addresses
        if let endpoint = provenAddress(of: peer) { record.reached(at: endpoint) }
        let isNew = !record.isMet
        let isNews = isNew || record.name != name || record.addresses != known
        if record.isMet, record.name != name, !record.name.isEmpty, peers[peer]?.isPresent == false {
            notice(about: peer, "'\(record.name)' is now called '\(name)'")
        }
        if record.name != name { record.namedSince = wall }
        if !record.isMet { record.firstSeen = wall }
        record.name = name
        record.lastSeen = wall
        peers[peer]?.record = record
        strangers[peer] = nil
        if isNews || peers[peer]?.isPresent == false { effects.append(.remember(peer, record)) }
        if isNew { forgetGuests() }
    }

    /// Forgets who was seen longest ago of those who came once and left nothing, where there are too many.
    ///
    /// Keys cost nothing, so anybody could fill the disk of a room that is open. Whoever was judged or has written stays.
    private mutating func forgetGuests() {
        let authors = Set(logs.filter { $0.value.last > 0 }.map(\.key.author))
        let guests = peers.filter { peer, known in
            known.record?.isMet == true && known.record?.verdict == PeerRecord.Verdict.none && !known.isLinked
                && !known.isPresent && !known.isDialling && known.endpoints.isEmpty && door[peer] == nil
                && !authors.contains(peer) && !places.contains { $0.peer == peer }
        }
        let excess = guests.count - limits.maximumGuests
        if excess <= 0 { return }
        let oldest = guests.sorted {
            ($0.value.record?.lastSeen ?? 0, $0.key) < ($1.value.record?.lastSeen ?? 0, $1.key)
        }
        for (peer, _) in oldest.prefix(excess) {
            receipts[peer] = nil
            holdings[peer] = holdings[peer]?.filter { $0.key.author == me }
            effects.append(.remember(peer, PeerRecord(name: "")))
            forget(peer)
        }
    }

    /// Where its key was proven on the present link, and can be dialled: where we dialled it, or at the port that it
    /// names itself on the address that it came from.
    private func provenAddress(of peer: PeerID) -> Endpoint? {
        guard let known = peers[peer], known.isLinked, let endpoint = known.endpoint else { return nil }
        if endpoint == known.reachedAt { return endpoint }
        return hints[peer]?.endpoints.first { $0.address == endpoint.withoutScope.address }
    }

    /// Keeps where a peer is once it has said so itself.
    mutating func rememberAddress(of peer: PeerID) {
        guard var record = peers[peer]?.record, let endpoint = provenAddress(of: peer) else { return }
        record.reached(at: endpoint)
        guard record.addresses != peers[peer]?.record?.addresses else { return }
        peers[peer]?.record = record
        effects.append(.remember(peer, record))
    }

    /// Keeps when a peer was last there.
    mutating func seen(_ peer: PeerID) {
        guard peers[peer]?.record != nil else { return }
        peers[peer]?.record?.lastSeen = wall
        if let record = peers[peer]?.record { effects.append(.remember(peer, record)) }
    }

    /// Looks whether a name is another's, and says so once.
    mutating func checkName(of peer: PeerID, _ name: String) {
        let alarm = alarm(about: peer, name)
        guard peers[peer]?.alarm != alarm else { return }
        peers[peer]?.alarm = alarm
        if let alarm { warn(about: peer, name, alarm) }
    }

    /// An author whose events others pass on; it may have a name that is pinned to another key.
    mutating func heard(of author: PeerID, _ name: String) {
        guard author != me, peers[author]?.record?.isMet != true, strangers[author] != name else { return }
        strangers[author] = name
        guard !name.isEmpty, let alarm = alarm(about: author, name) else { return }
        warn(about: author, name, alarm)
    }

    private mutating func warn(about peer: PeerID, _ name: String, _ alarm: NameAlarm) {
        let whose = alarm.owner == me ? "this host's own" : "that of \(alarm.owner.suffix)"
        notice(
            about: peer,
            alarm.isSame
                ? "the name '\(name)' of \(peer.suffix) is \(whose): another key, so perhaps somebody else"
                    + " (if it is all right: chat trust \(peer.suffix))"
                : "the name '\(name)' of \(peer.suffix) looks like '\(alarm.name)', \(whose), and is another key"
                    + " (if it is all right: chat trust \(peer.suffix))")
    }

    /// The longest-standing other owner of a name that looks like this one.
    private func alarm(about peer: PeerID, _ name: String) -> NameAlarm? {
        let record = peers[peer]?.record
        if record?.verdict == .trusted { return nil }
        let skeleton = Names.skeleton(of: name)
        if skeleton == Names.skeleton(of: displayName) {
            return NameAlarm(owner: me, name: displayName, isSame: name == displayName)
        }
        let since = record?.name == name ? record?.namedSince ?? .max : .max
        let owners = peers.filter { other, known in
            guard other != peer, let owned = known.record, owned.verdict != .blocked, !owned.name.isEmpty else {
                return false
            }
            return (owned.namedSince, other) < (since, peer) && known.skeleton == skeleton
        }
        let owner = owners.min {
            ($0.value.record?.namedSince ?? 0, $0.key) < ($1.value.record?.namedSince ?? 0, $1.key)
        }
        guard let owner, let owned = owner.value.record?.name else { return nil }
        return NameAlarm(owner: owner.key, name: owned, isSame: owned == name)
    }

    // MARK: Authors

    /// Whether an author's events are taken: nobody's who is blocked, and of those never met a bounded number's.
    func isHeard(_ author: PeerID) -> Bool {
        if author == me || peers[author]?.record?.isMet == true { return !isBlocked(author) }
        return !isBlocked(author) && (strangers[author] != nil || strangers.count < limits.maximumStrangers)
    }

    /// The same for a batch that isn't decoded yet: its first bytes are its author's key.
    mutating func isHeard(batch bytes: [UInt8]) -> Bool {
        // Whoever decodes what is no key complains.
        guard let key = Bytes32(bytes.prefix(32)), let author = author(key) else { return true }
        guard isHeard(author) else { return false }
        expect(author)
        guard let log = LogID(ofBatch: bytes, by: author) else { return true }
        return makePlace(for: log)
    }

    /// Keeps a place for what comes of a log, unless its author has too many.
    ///
    /// - Returns: Whether there is one.
    mutating func makePlace(for log: LogID) -> Bool {
        if logs[log] != nil { return true }
        let isTrusted = log.author == me || peers[log.author]?.record?.verdict == .trusted
        let count = isTrusted ? 0 : logs.keys.count { $0.author == log.author }
        guard count < limits.maximumLogsOfOne else {
            tellOfCrowd(log.author)
            return false
        }
        logs[log] = Log()
        return true
    }

    private mutating func tellOfCrowd(_ author: PeerID) {
        guard crowded.insert(author).inserted else { return }
        notice(
            about: author,
            "'\(name(of: author))' has begun more than \(limits.maximumLogsOfOne) logs, the newest are left out: "
                + "chat trust \(author.suffix) takes them")
    }

    /// Gives up the places of logs of which nothing came.
    mutating func forgetEmptyLogs() {
        for log in logs.filter({ $0.value.ranges.isEmpty && $0.value.asked.isEmpty && !$0.value.isForked }).keys
            .sorted()
        {
            forget(log)
        }
    }

    private mutating func author(_ key: Bytes32) -> PeerID? {
        if let author = authors[key] { return author }
        guard let author = PeerID(key.bytes) else { return nil }
        recognize(author)
        return author
    }

    /// Spares looking at its key again.
    mutating func recognize(_ author: PeerID) {
        if authors.count >= limits.maximumLogs { authors = [:] }
        authors[author.key] = author
    }

    /// Counts an author from when its events are asked for, or come.
    mutating func expect(_ author: PeerID) {
        if author == me || peers[author]?.record?.isMet == true || strangers[author] != nil { return }
        strangers[author] = ""
    }

    /// Counts no more an author of whom nothing has come.
    mutating func expectNoMore(_ author: PeerID) {
        if strangers[author] == "", !logs.keys.contains(where: { $0.author == author }) { strangers[author] = nil }
    }
}
