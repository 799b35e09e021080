import Addressing
import Identity

/// Where a member says that somebody is whom we have no link with.
struct Hearsay {
    var endpoints: [Endpoint]
    var sender: PeerID
    var counter: UInt64
    /// Whether a dial rests on it.
    var isTried = false
}

/// What a member's word about others has come to.
struct Credit {
    /// When somebody was dialled on it who hasn't answered.
    var dials: [UInt64] = []
    /// How many of its hints were verified since `since`.
    var verified = 0
    var since: UInt64 = 0
}

// Where others are, as members tell one another inside their links
extension RoomState {
    /// We are to be dialled elsewhere now.
    mutating func ownHint(_ hint: PeerHint?) {
        ownHint = hint
        guard let hint else { return }
        for peer in linked { send([hint], to: peer) }
    }

    /// Tells a peer where we are, and where those are whom we have links with.
    mutating func tellHints(to peer: PeerID) {
        let others = hints.keys.sorted().filter { $0 != peer && isPassedOn($0) }.compactMap { hints[$0] }
        send([ownHint].compactMap(\.self) + others, to: peer)
    }

    private func isPassedOn(_ peer: PeerID) -> Bool { peers[peer]?.isLinked == true && !isBlocked(peer) }

    private mutating func send(_ hints: [PeerHint], to peer: PeerID) {
        guard peers[peer]?.takesHints == true else { return }
        let fresh = hints.filter { $0.isFresh(at: wall, life: limits.hintLife) }
        for first in stride(from: 0, to: fresh.count, by: Hints.maximumCount) {
            let page = fresh[first..<min(first + Hints.maximumCount, fresh.count)]
            effects.append(.send(peer, [.hints(Hints(hints: Array(page)))]))
        }
    }

    /// What may be of use is verified first, which takes a while.
    mutating func take(_ message: Hints, from sender: PeerID) {
        var useful = message.hints.filter { hint in
            guard let subject = authors[hint.key] else { return hint.isFresh(at: wall, life: limits.hintLife) }
            return isUseful(hint, of: subject, from: sender)
        }
        useful.removeLast(useful.count - admit(useful.count, from: sender))
        if !useful.isEmpty { effects.append(.verify(useful, from: sender)) }
    }

    /// How many of so many hints may be verified now.
    private mutating func admit(_ count: Int, from sender: PeerID) -> Int {
        if credits.count > limits.hintsVerified {
            credits = credits.filter { $0.value.since.adding(limits.hintPeriod) > now }
        }
        var credit = credits[sender] ?? Credit(since: now)
        if credit.since.adding(limits.hintPeriod) <= now { (credit.verified, credit.since) = (0, now) }
        let admitted = min(count, limits.hintsVerified - credit.verified)
        credit.verified += admitted
        credits[sender] = credit
        return admitted
    }

    private func isUseful(_ hint: PeerHint, of subject: PeerID, from sender: PeerID) -> Bool {
        guard subject != me, !shutOut.contains(subject), hint.isFresh(at: wall, life: limits.hintLife) else {
            return false
        }
        if subject == sender { return hint.counter > hints[subject]?.counter ?? 0 }
        guard peers[subject]?.isLinked != true, door[subject] == nil else { return false }
        return hint.counter > peers[subject]?.hearsay?.counter ?? 0 && mayDial(onWordOf: sender)
    }

    /// Their subjects have signed them.
    mutating func hinted(_ hints: [PeerID: PeerHint], by sender: PeerID) {
        for (subject, hint) in hints.sorted(by: { $0.key < $1.key }) {
            recognize(subject)
            guard peers[sender]?.isLinked == true, isUseful(hint, of: subject, from: sender) else { continue }
            effects.append(.admit(hint.endpoints.map(\.address)))
            if subject == sender { heardOfItself(subject, hint) } else { heard(hint, of: subject, from: sender) }
        }
    }

    private mutating func heardOfItself(_ peer: PeerID, _ hint: PeerHint) {
        hints[peer] = hint
        rememberAddress(of: peer)
        guard isPassedOn(peer) else { return }
        for other in linked where other != peer { send([hint], to: other) }
    }

    private mutating func heard(_ hint: PeerHint, of peer: PeerID, from sender: PeerID) {
        peers[peer, default: Peer()].hearsay = Hearsay(
            endpoints: hint.endpoints, sender: sender, counter: hint.counter)
        noteNewcomer(peer)
        dial(peer)
    }

    // MARK: What a sender's word is worth

    /// Whether one more dial may rest on the word of a sender: those that led nowhere are counted.
    func mayDial(onWordOf sender: PeerID) -> Bool {
        let recent = credits[sender]?.dials.count { $0.adding(limits.hintPeriod) > now } ?? 0
        return recent < limits.hintDials
    }

    /// Where to dial a peer, with what others say, which counts against who said it until the peer has answered.
    mutating func candidates(of peer: PeerID) -> [Endpoint] {
        guard let known = peers[peer] else { return [] }
        guard let hearsay = known.hearsay, mayDial(onWordOf: hearsay.sender) else { return known.candidates }
        credits[hearsay.sender, default: Credit(since: now)].dials.removeAll { $0.adding(limits.hintPeriod) <= now }
        credits[hearsay.sender]?.dials.append(now)
        peers[peer]?.hearsay?.isTried = true
        return known.candidates + hearsay.endpoints.filter { !known.candidates.contains($0) }
    }

    /// A dial of a peer has ended, at a link or not.
    mutating func judgeHearsay(about peer: PeerID, isTrue: Bool) {
        guard let hearsay = peers[peer]?.hearsay, hearsay.isTried || isTrue else { return }
        peers[peer]?.hearsay = nil
        if isTrue, hearsay.isTried { _ = credits[hearsay.sender]?.dials.popLast() }
    }

    /// What a peer said of itself is told others as long as we have a link with it.
    mutating func forgetHint(of peer: PeerID) { hints[peer] = nil }
}
