import Addressing
import Identity

/// What the room knows of one peer.
struct Peer {
    var name: String?
    var isLinked = false
    var linkedSince: UInt64 = 0
    /// Whether people see it as there; outlasts a link by the grace.
    var isPresent = false
    /// Where it is announced, and where a dial of ours reached it.
    var endpoints: [Endpoint] = []
    var reachedAt: Endpoint?
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
    /// Why the last dial or link failed.
    var failure: String?

    /// What it says it has; the end of the run that begins at 1.
    var have: [LogID: EventRange] = [:]
    /// Whether all of its first `Have` on this link has come.
    var isIntroduced = false
    /// The last own event pushed to it, and what it hasn't confirmed of that.
    var pushed: UInt64 = 0
    var unconfirmed: [(last: UInt64, length: Int)] = []

    init(_ record: PeerRecord? = nil) {
        name = record?.name
        self.record = record
        skeleton = Names.skeleton(of: record?.name ?? "")
    }

    var candidates: [Endpoint] { endpoints + (reachedAt.map { endpoints.contains($0) ? [] : [$0] } ?? []) }
}

/// `HOST:PORT` that the user gave.
struct Place {
    let address: String
    var peer: PeerID?
    var pace = Pace()
    var isDialling = false
}

enum Dialled {
    case peer(PeerID)
    case place(Int)
    case sighting(String)
}

/// How soon the next dial may follow: doubling pauses with jitter, long ones after a long time without success.
struct Pace {
    private var failures: UInt64 = 0
    private var failingSince: UInt64?

    mutating func succeeded() { self = Pace() }

    /// - Returns: The pause before the next dial, in milliseconds.
    mutating func failed(now: UInt64, _ limits: RoomLimits, _ random: inout SplitMix64) -> UInt64 {
        let since = failingSince ?? now
        failingSince = since
        let doubled = min(limits.dialPause << min(failures, 16), limits.dialPauseLimit)
        failures += 1
        let pause = now - since > limits.eagerDialPeriod ? limits.slowDialPause : doubled
        return pause / 2 + UInt64.random(in: 0...max(pause / 2, 1), using: &random)
    }
}

// Discovery and dialling
extension RoomState {
    mutating func found(_ peer: PeerID, at endpoints: [Endpoint]) {
        guard peer != me else { return }
        peers[peer, default: Peer()].endpoints = endpoints
        let isScheduled = timers.isSet(.dial(peer)) || places.contains { $0.peer == peer }
        if isScheduled, peers[peer]?.isIncompatible == true { return }
        peers[peer]?.pace.succeeded()
        if peers[peer]?.isPresent == false, door[peer] == nil, !shutOut.contains(peer) {
            tellStatus(of: peer, .connecting)
        }
        dial(peer)
    }

    /// A record that went ends no link (records come and go for many reasons), but nobody is dialled by it any more.
    mutating func lost(_ peer: PeerID) { peers[peer]?.endpoints = [] }

    mutating func dial(_ peer: PeerID) {
        guard let known = peers[peer], !known.isLinked, !known.isDialling, !shutOut.contains(peer), door[peer] == nil
        else { return }
        dial(peer, at: known.candidates, replacingSilent: false)
    }

    private mutating func dial(_ peer: PeerID, at endpoints: [Endpoint], replacingSilent: Bool) {
        guard !endpoints.isEmpty else { return }
        timers.cancel(.dial(peer))
        peers[peer]?.isDialling = true
        effects.append(.dial(number(.peer(peer)), .peer(peer, endpoints), replacingSilent: replacingSilent))
    }

    mutating func dial(place index: Int) {
        let place = places[index]
        if place.isDialling || place.peer.map({ peers[$0]?.isLinked == true || door[$0] != nil }) == true {
            return
        }
        places[index].isDialling = true
        effects.append(.dial(number(.place(index)), .place(place.address), replacingSilent: false))
    }

    mutating func number(_ dialled: Dialled) -> DialNumber {
        lastDial += 1
        let number = DialNumber(value: lastDial)
        dials[number] = dialled
        return number
    }

    mutating func dialled(_ number: DialNumber, _ outcome: DialOutcome) {
        switch dials.removeValue(forKey: number) {
        case .peer(let peer): dialled(peer, outcome)
        case .place(let index): dialled(place: index, outcome)
        case .sighting(let instance): dialled(sighting: instance, outcome)
        case nil: break
        }
    }

    private mutating func dialled(_ peer: PeerID, _ outcome: DialOutcome) {
        peers[peer]?.isDialling = false
        if case .linked = outcome {
            // The link itself is told of apart; if it is gone already, a dial is due all the same.
            let isDue = peers[peer]?.isLinked == false && !timers.isSet(.dial(peer))
            if isDue { set(.dial(peer), after: limits.dialPauseLimit) }
            return
        }
        guard var known = peers[peer], !known.isLinked else { return }
        if case .refused = outcome, known.isPresent { leave(peer) }
        failed(peer, outcome.reason)
        if !known.isPresent, door[peer] == nil { tellStatus(of: peer, .away) }
        let pause = known.pace.failed(now: now, limits, &random)
        peers[peer]?.pace = known.pace
        if !timers.isSet(.dial(peer)) { set(.dial(peer), after: pause) }
    }

    private mutating func dialled(place index: Int, _ outcome: DialOutcome) {
        places[index].isDialling = false
        var pause = places[index].pace.failed(now: now, limits, &random)
        if case .linked(let peer) = outcome {
            places[index].peer = peer
            places[index].pace.succeeded()
            if peers[peer]?.isLinked == true || door[peer] != nil { return }
            pause = peers[peer]?.isIncompatible == true ? limits.incompatiblePause : limits.dialPauseLimit
        }
        if !timers.isSet(.dialPlace(index)) { set(.dialPlace(index), after: pause) }
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
        known.pushed = 0
        known.unconfirmed = []
        known.endpoint = endpoint
        if isDialler { known.reachedAt = endpoint }
        known.failure = nil
        peers[peer] = known
        timers.cancel(.grace(peer))
        timers.cancel(.dial(peer))
        forgetWants(from: peer)
        introduce(to: peer)
    }

    mutating func greeted(_ hello: Hello, by peer: PeerID) {
        let formerName = peers[peer]?.name
        checkName(of: peer, hello.displayName)
        pin(peer, hello.displayName)
        peers[peer]?.name = hello.displayName
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
        // Whom we were about to fetch from may be back.
        for root in fetches.keys.sorted(by: rootOrder) { sourceBack(peer, for: root) }
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

    mutating func silent(_ peer: PeerID) {
        guard let known = peers[peer], !known.isDialling else { return }
        dial(peer, at: known.candidates, replacingSilent: true)
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
        forgetWants(from: peer)
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

    private mutating func failed(_ peer: PeerID, _ reason: String?) {
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
