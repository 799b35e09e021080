import Addressing
import Identity

/// A linked peer that isn't in the room: its Hello hasn't come, or one of the two hosts hasn't let the other in.
struct Guest {
    var endpoint: Endpoint
    var isDialler: Bool
    var hello: Hello?
    /// Whether we let it in.
    var isLetIn = false
    /// Whether it lets us in; from a host that is open, its Hello says so.
    var letsUsIn = false

    var state: PeerStatus.State { isLetIn ? .undecided : .waiting }
}

// The door: links that are up, and who may come in by them
extension RoomState {
    mutating func linkUp(_ peer: PeerID, _ endpoint: Endpoint, isDialler: Bool) {
        if shutOut.contains(peer) { return effects.append(.shutOut(shutOut)) }
        if peers[peer]?.isLinked == true {
            // Another link takes the place of the kept one, which may have swallowed what was said on it.
            sayWaiting(.over, to: peer)
            return enter(peer, endpoint, isDialler: isDialler)
        }
        if peers[peer] == nil { peers[peer] = Peer() }
        var guest = door[peer] ?? Guest(endpoint: endpoint, isDialler: isDialler)
        guest.endpoint = endpoint
        guest.isDialler = isDialler
        guest.isLetIn = guest.isLetIn || isWelcome(peer)
        if !guest.isLetIn, let reason = obstacle(to: peer) {
            door[peer] = nil
            effects.append(.disconnect(peer, reason: reason))
            set(.dial(peer), after: limits.slowDialPause)
            return noteNewcomer(peer)
        }
        door[peer] = guest
        newcomers.removeAll { $0 == peer }
        timers.cancel(.dial(peer))
        sayWaiting(guest.isLetIn ? .over : .begins, to: peer)
        if !guest.isLetIn, !timers.isSet(.waiting(peer)) { set(.waiting(peer), after: limits.waitingTime) }
    }

    private func isWelcome(_ peer: PeerID) -> Bool {
        guard admission != .open, let record = peers[peer]?.record else { return admission == .open }
        return record.isMet || record.verdict == .trusted
    }

    private func obstacle(to peer: PeerID) -> String? {
        if admission == .known { return "it isn't known here" }
        let others = door.filter { $0.key != peer && !$0.value.isLetIn }.count
        return others >= limits.maximumWaiting ? "\(others) others are waiting to be let in" : nil
    }

    /// A host that is open says nothing: its Hello has told.
    private mutating func sayWaiting(_ word: Waiting, to peer: PeerID) {
        if admission != .open { effects.append(.send(peer, [.waiting(word)])) }
    }

    /// Before both sides want it nothing is listened to but who is there, and whether it may come in.
    mutating func takeAtDoor(_ message: SessionMessage, from peer: PeerID) {
        switch message {
        case .hello(let hello): self.hello(hello, from: peer)
        case .waiting(let word): waiting(word, from: peer)
        default: break
        }
    }

    mutating func hello(_ hello: Hello, from peer: PeerID) {
        compareClocks(with: peer, hello)
        guard door[peer] != nil else { return greeted(hello, by: peer) }
        door[peer]?.hello = hello
        if hello.features & Hello.saysWaiting == 0 { door[peer]?.letsUsIn = true }
        if peers[peer]?.name == nil { peers[peer]?.name = hello.displayName }
        checkName(of: peer, hello.displayName)
        if !pass(peer) { ask(about: peer, hello) }
    }

    /// Says once of a peer that one of the two clocks is wrong.
    private mutating func compareClocks(with peer: PeerID, _ hello: Hello) {
        let offset = hello.offset(from: wall)
        peers[peer]?.clockOffset = offset
        guard offset.magnitude > limits.clockLead, peers[peer]?.isSkewTold == false else { return }
        peers[peer]?.isSkewTold = true
        let hours = offset.magnitude / 3_600_000
        let span = hours < 2 ? "\(offset.magnitude / 60_000) min" : hours < 48 ? "\(hours) h" : "\(hours / 24) days"
        notice(
            about: peer,
            "the clock of '\(hello.displayName)' is \(span) \(offset > 0 ? "ahead of" : "behind") this host's: one of them is wrong"
        )
    }

    /// Puts the question to the user, once for each peer.
    private mutating func ask(about peer: PeerID, _ hello: Hello) {
        guard let guest = door[peer] else { return }
        tellStatus(of: peer, guest.state)
        guard !guest.isLetIn, askedAbout.insert(peer).inserted else { return }
        notice(
            about: peer,
            "'\(hello.displayName)' (\(peer.suffix)) wants to come in: chat accept \(peer.suffix), or refuse")
    }

    /// Lets a guest in if both sides want that.
    ///
    /// - Returns: Whether it is in.
    private mutating func pass(_ peer: PeerID) -> Bool {
        guard let guest = door[peer], guest.isLetIn, guest.letsUsIn, let hello = guest.hello else { return false }
        door[peer] = nil
        timers.cancel(.waiting(peer))
        enter(peer, guest.endpoint, isDialler: guest.isDialler)
        greeted(hello, by: peer)
        return true
    }

    mutating func waiting(_ word: Waiting, from peer: PeerID) {
        guard door[peer] != nil else { return }
        door[peer]?.letsUsIn = word == .over
        if word == .over {
            isOutside = false
            _ = pass(peer)
        } else if !isOutside {
            isOutside = true
            notice(about: peer, "waiting for somebody in \(room) to let you in")
        }
    }

    mutating func waitedTooLong(_ peer: PeerID) {
        guard let guest = door[peer], !guest.isLetIn else { return }
        turnAway(peer, "nobody has let it in")
    }

    private mutating func turnAway(_ peer: PeerID, _ reason: String) {
        effects.append(.disconnect(peer, reason: reason))
        wentAway(peer)
    }

    /// - Returns: Whether it was at the door.
    @discardableResult mutating func wentAway(_ peer: PeerID) -> Bool {
        guard let guest = door.removeValue(forKey: peer) else { return false }
        timers.cancel(.waiting(peer))
        if guest.hello != nil { tellStatus(of: peer, .away) }
        // Who hasn't let us in doesn't at once; a link that broke before it was told is tried again as any.
        var pause = limits.slowDialPause
        if guest.hello == nil { pause = peers[peer]?.pace.failed(now: now, limits, &random) ?? pause }
        set(.dial(peer), after: pause)
        for index in places.indices where places[index].peer == peer { set(.dialPlace(index), after: pause) }
        noteNewcomer(peer)
        return true
    }
}

// What the user decides
extension RoomState {
    mutating func decide(_ peer: PeerID, _ decision: PeerDecision, _ command: CommandID) {
        guard peer != me else { return effects.append(.reply(command, .done)) }
        if peers[peer] == nil { peers[peer] = Peer() }
        switch decision {
        case .trust: trust(peer, command)
        case .block: block(peer, command)
        case .unblock: unblock(peer, command)
        case .accept:
            judge(peer, nil, command)
            letIn(peer)
        case .refuse:
            shutOut.insert(peer)
            expel(peer)
            effects.append(.reply(command, .done))
        }
    }

    private mutating func trust(_ peer: PeerID, _ command: CommandID) {
        judge(peer, .trusted, command)
        peers[peer]?.alarm = nil
        if shutOut.remove(peer) != nil { effects.append(.shutOut(shutOut)) }
        letIn(peer)
        tellStatus(of: peer)
        wantLogs(of: peer)
    }

    private mutating func letIn(_ peer: PeerID) {
        guard let guest = door[peer], !guest.isLetIn else { return }
        timers.cancel(.waiting(peer))
        door[peer]?.isLetIn = true
        sayWaiting(.over, to: peer)
        if !pass(peer) { tellStatus(of: peer, .undecided) }
    }

    private mutating func block(_ peer: PeerID, _ command: CommandID) {
        judge(peer, .blocked, command)
        shutOut.insert(peer)
        expel(peer)
        for id in arrivals.keys.sorted() where arrivals[id]?.peer == peer { cancel(id) }
        for log in logs.keys.filter({ $0.author == peer }).sorted() {
            timers.cancel(.want(log))
            endWants(log)
        }
        wantWaiting()
        tellStatus(of: peer)
    }

    private mutating func unblock(_ peer: PeerID, _ command: CommandID) {
        judge(peer, PeerRecord.Verdict.none, command)
        if shutOut.remove(peer) != nil { effects.append(.shutOut(shutOut)) }
        if let record = peers[peer]?.record, record.isMet { effects.append(.expect(record.addresses.map(\.address))) }
        tellStatus(of: peer)
        dial(peer)
        wantLogs(of: peer)
    }

    /// Asks for what was left out of an author's logs.
    private mutating func wantLogs(of peer: PeerID) {
        let offered = Set(linked.flatMap { Array((peers[$0]?.have ?? [:]).keys) }).union(logs.keys)
        for log in offered.filter({ $0.author == peer }).sorted() { want(log) }
    }

    /// Keeps a verdict, or without one that the peer was met; the command is answered once that is on disk.
    private mutating func judge(_ peer: PeerID, _ verdict: PeerRecord.Verdict?, _ command: CommandID) {
        var record = peers[peer]?.record ?? PeerRecord(name: peers[peer]?.name ?? "", namedSince: wall)
        if let verdict { record.verdict = verdict } else if !record.isMet { record.firstSeen = wall }
        peers[peer]?.record = record
        effects.append(.judge(peer, record, command))
    }

    /// Ends its links without a word.
    private mutating func expel(_ peer: PeerID) {
        effects.append(.shutOut(shutOut))
        timers.cancel(.dial(peer))
        if wentAway(peer) { return timers.cancel(.dial(peer)) }
        guard peers[peer]?.isLinked == true else { return }
        peers[peer]?.isLinked = false
        forgetWants(from: peer)
        sourceGone(peer)
        leave(peer)
    }

    func isBlocked(_ peer: PeerID) -> Bool { peers[peer]?.record?.verdict == .blocked }
}

extension Hello {
    /// How far its sender's clock is ahead of ours, in milliseconds.
    func offset(from wall: UInt64) -> Int64 { Int64(clamping: wallTime) - Int64(clamping: wall) }
}
