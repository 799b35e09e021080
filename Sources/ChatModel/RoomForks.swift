import Identity

// Two histories under one key, and databases older than what was said under their name (docs/protocol.md, "Forks")
extension RoomState {
    /// Takes a batch that contradicts ours as the proof against its author, and passes it on once.
    mutating func fork(_ proof: Batch) {
        let id = proof.log
        guard logs[id]?.proof == nil else { return }
        logs[id, default: Log()].proof = proof
        endWants(id)
        wantWaiting()
        notice(about: id.author, "'\(name(of: id.author))' has two histories under one key: rollback or copied key")
        say(id)
        for peer in linked where peers[peer]?.isIntroduced == true { passProof(of: id, to: peer) }
    }

    /// Sends both histories to somebody who holds something of the log and doesn't say that he knows: one of them
    /// contradicts his.
    private mutating func passProof(of id: LogID, to peer: PeerID) {
        guard isUnconvinced(peer, of: id), peers[peer]?.sentProofs.insert(id).inserted == true else { return }
        logs[id]?.proofRounds = 0
        sendProof(of: id, to: peer)
        set(.proof(id), after: limits.wantTimeout)
    }

    private func isUnconvinced(_ peer: PeerID, of id: LogID) -> Bool {
        guard id.isForRoom, let known = peers[peer], known.isLinked else { return false }
        return known.have[id] != nil && !known.convinced.contains(id)
    }

    private mutating func sendProof(of id: LogID, to peer: PeerID) {
        guard let log = logs[id], let proof = log.proof else { return }
        effects.append(.send(peer, [.batch(proof.bytes)]))
        // Ours may end just before it, or begin just behind it.
        let near = max(1, proof.first - 1)...proof.last + 1
        for range in log.ranges.all where range.numbers.overlaps(near) {
            effects.append(.serve(Want(log: id, numbers: range.numbers.clamped(to: near)), to: peer))
        }
    }

    /// Sends the proof again, ever more seldom, to those who were sent it and still don't say that they have it.
    mutating func passProofAgain(of id: LogID) {
        let unconvinced = linked.filter { peers[$0]?.sentProofs.contains(id) == true && isUnconvinced($0, of: id) }
        guard !unconvinced.isEmpty, let rounds = logs[id]?.proofRounds else { return }
        logs[id]?.proofRounds = rounds + 1
        for peer in unconvinced { sendProof(of: id, to: peer) }
        set(.proof(id), after: limits.wantTimeout << min(rounds + 1, 7))
    }

    /// Passes the proof of a fork to a peer that says what it holds of the log.
    mutating func compare(_ have: Have, of peer: PeerID) {
        for entry in have.entries where entry.log.isForRoom {
            guard let log = logs[entry.log], log.isForked else { continue }
            passProof(of: entry.log, to: peer)
            // There may be a third history: what we have where his ends contradicts that.
            if entry.isForked { continue }
            for end in entry.ranges where log.ranges.contains(end.numbers.upperBound) {
                if log.ranges.all.contains(where: { $0.lastID == end.lastID }) { continue }
                let want = Want(log: entry.log, numbers: end.numbers.upperBound...end.numbers.upperBound)
                effects.append(.serve(want, to: peer))
            }
        }
    }
}

// The first own event after a start
extension RoomState {
    /// Holds an own event back until one peer has told what it has of our log, for a short while at most.
    ///
    /// Somebody may hold events of ours that a restored database lacks: their numbers must not be given again.
    ///
    /// - Returns: Whether it is held.
    mutating func holdsBack(_ saying: Saying) -> Bool {
        guard heldBack != nil else { return false }
        let end = (started ?? now).adding(limits.headsPatience)
        if now >= end {
            release()
            return false
        }
        heldBack?.append(saying)
        if !timers.isSet(.release) { set(.release, after: end - now) }
        return true
    }

    /// Lets own events go if somebody's word on our log is here, and we lack nothing of it.
    mutating func releaseIfTold() {
        guard heldBack != nil else { return }
        let isTold = peers.values.contains { peer in
            peer.isLinked && peer.isIntroduced
                && (peer.have[ownLog]?.last ?? 0) <= (logs[ownLog]?.last ?? 0)
        }
        if isTold { release() }
    }

    mutating func release() {
        let waiting = heldBack ?? []
        heldBack = nil
        timers.cancel(.release)
        for saying in waiting { append(saying) }
    }

    /// Own events go into another log from here on: the one before is in older hands.
    mutating func follow(_ log: LogID) {
        guard log != ownLog else { return }
        ownLog = log
        for (peer, known) in peers {
            peers[peer]?.pushed = known.have[log]?.last ?? 0
            peers[peer]?.unconfirmed = Unconfirmed()
        }
    }
}
