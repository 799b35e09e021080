import Addressing
import Identity

/// What the room knows of one peer.
struct Peer {
    var name: String?
    var isLinked = false
    var linkedSince: UInt64 = 0
    /// Whether it has been in this run.
    var wasLinked: Bool { linkedSince > 0 }
    /// Whether people see it as there; outlasts a link by the grace.
    var isPresent = false
    /// Where it is announced, and where a dial of ours reached it.
    var endpoints: [Endpoint] = []
    var reachedAt: Endpoint?
    /// Where another member says that it is.
    var hearsay: Hearsay?
    /// Whether it understands hints.
    var takesHints = false
    /// The peer's end of the present link.
    var endpoint: Endpoint?
    var pace = Pace()
    var isDialling = false
    var isIncompatible = false
    /// What was told of it last, and since when it stands so.
    var told: (state: PeerStatus.State, since: UInt64)?

    /// What is kept of it; nothing before its first Hello on a link of our own.
    var record: PeerRecord? {
        didSet { if record?.name != oldValue?.name { skeleton = Names.skeleton(of: record?.name ?? "") } }
    }
    /// Of the pinned name.
    private(set) var skeleton = ""
    var alarm: NameAlarm?
    var clockOffset: Int64?
    /// Whether the user was told that its clock or ours is wrong.
    var isSkewTold = false
    /// Why the last dial or link failed.
    var failure: String?

    /// What it says it has.
    var have: [LogID: EventRanges] = [:]
    /// Logs of which it says that it holds the proof of two histories, and those of which it was sent that on this link.
    var convinced: Set<LogID> = []
    var sentProofs: Set<LogID> = []
    /// Whether all of its first `Have` on this link has come.
    var isIntroduced = false
    /// Up to where it has asked us for a log; what it has beyond that came from others.
    var wanted: [LogID: UInt64] = [:]
    /// The last own event that it was told of or pushed, and what it hasn't confirmed of what was pushed.
    var pushed: UInt64 = 0
    var unconfirmed = Unconfirmed()
    /// The newest receipt of each holder that it has sent or been sent on this link.
    var receiptsTold: [PeerID: UInt64] = [:]
    /// Whether its question what is on our disk is being answered.
    var isVerifying = false

    init(_ record: PeerRecord? = nil) {
        name = record?.name
        self.record = record
        skeleton = Names.skeleton(of: record?.name ?? "")
    }

    /// Where to dial it: first where it has proven its key before, then where it is announced.
    var candidates: [Endpoint] {
        var all: [Endpoint] = []
        for endpoint in [reachedAt].compactMap(\.self) + (record?.addresses ?? []) + endpoints
        where !all.contains(where: { $0 == endpoint || $0.withoutScope == endpoint }) { all.append(endpoint) }
        return all
    }
}

// Links and presence
extension RoomState {
    mutating func enter(_ peer: PeerID, _ endpoint: Endpoint, isDialler: Bool) {
        var known = peers[peer] ?? Peer()
        if !known.isLinked { known.linkedSince = now }
        known.isLinked = true
        known.isIntroduced = false
        known.have = [:]
        known.wanted = [:]
        known.convinced = []
        known.sentProofs = []
        known.pushed = logs[ownLog]?.last ?? 0
        known.unconfirmed = Unconfirmed()
        known.receiptsTold = [:]
        known.endpoint = endpoint
        if isDialler { known.reachedAt = endpoint }
        known.failure = nil
        peers[peer] = known
        newcomers.removeAll { $0 == peer }
        recognize(peer)
        judgeHearsay(about: peer, isTrue: true)
        timers.cancel(.grace(peer))
        timers.cancel(.dial(peer))
        forgetWants(from: peer)
        introduce(to: peer)
        receiptDue()
        passReceiptsSoon(after: limits.receiptPatience)
    }

    mutating func greeted(_ hello: Hello, by peer: PeerID) {
        let formerName = peers[peer]?.name
        checkName(of: peer, hello.displayName)
        pin(peer, hello.displayName)
        peers[peer]?.name = hello.displayName
        peers[peer]?.takesHints = hello.features & Hello.takesHints != 0
        recognize(peer, as: hello.instance)
        guard hello.versions.contains(Hello.version) else { return refuseVersion(of: peer) }
        peers[peer]?.isIncompatible = false
        if peers[peer]?.isPresent == false {
            peers[peer]?.isPresent = true
            notice(about: peer, "'\(hello.displayName)' is Connected")
        } else if let formerName, formerName != hello.displayName {
            notice(about: peer, "'\(formerName)' is now called '\(hello.displayName)'")
        }
        // Told also where another link takes the place of one: its endpoint is another.
        tellStatus(of: peer, .connected)
        tellAgain(peer)
        tellHints(to: peer)
        // Whom we were about to fetch from may be back.
        for root in fetches.keys.sorted() { sourceBack(peer, for: root) }
    }

    /// Counts as no link from here on; its end, which follows, changes nothing.
    private mutating func refuseVersion(of peer: PeerID) {
        peers[peer]?.isLinked = false
        forgetWants(from: peer)
        leave(peer)
        if peers[peer]?.isIncompatible == false {
            peers[peer]?.isIncompatible = true
            notice(about: peer, "'\(name(of: peer))' speaks an incompatible version")
        }
        effects.append(.disconnect(peer, reason: "incompatible version"))
        let ways = places.indices.filter { places[$0].peer == peer }
        if ways.isEmpty { set(.dial(peer), after: limits.incompatiblePause) }
        for index in ways { set(.dialPlace(index), after: limits.incompatiblePause) }
    }

    mutating func linkDown(_ peer: PeerID, _ ending: LinkEnding) {
        if wentAway(peer) { return }
        guard var known = peers[peer], known.isLinked else { return }
        known.isLinked = false
        // Links that end as soon as they are up must not chase one another.
        let isSteady = now - known.linkedSince >= limits.steadyLink
        if isSteady { known.pace.succeeded() }
        let pause = isSteady ? 0 : known.pace.failed(now: now, limits, &random)
        peers[peer] = known
        forgetHint(of: peer)
        forgetWants(from: peer)
        sayNow(of: peer)
        receiptDue()
        sourceGone(peer)
        switch ending {
        case .left:
            leave(peer)
            // A record may outlive its process by an hour, and a process may come back unannounced: ask now and then.
            if peers[peer]?.candidates.isEmpty == false { set(.dial(peer), after: limits.slowDialPause) }
        case .silent:
            leave(peer)
            dial(peer)
        case .closed:
            set(.grace(peer), after: limits.grace)
            if isSteady { dial(peer) } else { set(.dial(peer), after: pause) }
        case .violated(let how):
            effects.append(.log("\(name(of: peer)) (\(peer.suffix)): \(how)"))
            failed(peer, how)
            leave(peer)
            set(.dial(peer), after: limits.slowDialPause)
        }
        for index in places.indices where places[index].peer == peer {
            set(.dialPlace(index), after: ending == .closed ? pause : limits.dialPauseLimit)
        }
    }

    /// Ends a presence that people have seen.
    mutating func leave(_ peer: PeerID) {
        timers.cancel(.grace(peer))
        clones.remove(peer)
        guard let known = peers[peer], known.isPresent, !known.isLinked else { return }
        peers[peer]?.isPresent = false
        seen(peer)
        notice(about: peer, "'\(name(of: peer))' is Not Connected")
        tellStatus(of: peer, .away)
        receiverGone(peer)
        stalled()
    }

    /// Tells how a peer stands now; without a state, what else has changed.
    mutating func tellStatus(of peer: PeerID, _ state: PeerStatus.State? = nil) {
        if let state, peers[peer]?.told?.state != state { peers[peer]?.told = (state, wall) }
        guard let known = peers[peer], let (state, since) = known.told else { return }
        var status = PeerStatus(
            peer: peer, name: name(of: peer), state: state, endpoint: door[peer]?.endpoint ?? known.endpoint,
            since: since)
        status.record = known.record
        status.alarm = known.alarm
        status.clockOffset = known.clockOffset
        status.failure = known.failure
        effects.append(.peer(status))
    }

    mutating func failed(_ peer: PeerID, _ reason: String?) {
        guard let reason, peers[peer]?.failure != reason else { return }
        peers[peer]?.failure = reason
        tellStatus(of: peer)
    }

    mutating func clone(_ peer: PeerID) {
        guard clones.insert(peer).inserted else { return }
        notice(
            about: peer,
            peer == me
                ? "another chatd runs with a copy of this host's identity; give one of them its own state directory"
                : "'\(name(of: peer))' runs twice with one identity; only the first is linked")
    }
}
