import Addressing
import Identity

/// `HOST:PORT` that the user gave.
struct Place {
    let address: String
    var peer: PeerID?
    var pace = Pace()
    var isDialling = false
}

enum Dialled: Hashable {
    case peer(PeerID)
    case place(Int)
    case sighting(String)
}

/// How soon the next dial may follow: doubling pauses with jitter, long ones after a long time without success.
struct Pace {
    private(set) var failures: UInt64 = 0
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
        noteNewcomer(peer)
        let isScheduled = timers.isSet(.dial(peer)) || places.contains { $0.peer == peer }
        if isScheduled, peers[peer]?.isIncompatible == true { return }
        peers[peer]?.pace.succeeded()
        if peers[peer]?.isPresent == false, door[peer] == nil, !shutOut.contains(peer) {
            tellStatus(of: peer, .connecting)
        }
        dial(peer)
    }

    /// A record that went ends no link (records come and go for many reasons), but nobody is dialled by it any more.
    mutating func lost(_ peer: PeerID) {
        peers[peer]?.endpoints = []
        forgetIfUseless(peer)
    }

    mutating func dial(_ peer: PeerID) {
        guard let known = peers[peer], !known.isLinked, !known.isDialling, !shutOut.contains(peer), door[peer] == nil
        else { return }
        if known.candidates.isEmpty, known.hearsay == nil { return }
        guard hasSlot(for: .peer(peer)) else { return queue(.peer(peer)) }
        let endpoints = candidates(of: peer)
        // Whoever has said where it is has been wrong too often.
        if endpoints.isEmpty { return set(.dial(peer), after: limits.hintPeriod / 8) }
        dial(peer, at: endpoints, replacingSilent: false)
    }

    /// Its link is silent: that is no time to wait for others.
    mutating func silent(_ peer: PeerID) {
        guard let known = peers[peer], !known.isDialling else { return }
        dial(peer, at: known.candidates, replacingSilent: true)
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
        dialNext()
    }

    private mutating func dialled(_ peer: PeerID, _ outcome: DialOutcome) {
        peers[peer]?.isDialling = false
        if case .linked = outcome {
            // The link itself is told of apart; if it is gone already, a dial is due all the same.
            let isDue = peers[peer]?.isLinked == false && !timers.isSet(.dial(peer))
            if isDue { set(.dial(peer), after: limits.dialPauseLimit) }
            return
        }
        judgeHearsay(about: peer, isTrue: false)
        guard var known = peers[peer], !known.isLinked else { return }
        if case .refused = outcome, known.isPresent { leave(peer) }
        if let record = known.record, known.told == nil { peers[peer]?.told = (.away, record.lastSeen) }
        failed(peer, outcome.reason)
        if !known.isPresent, door[peer] == nil { tellStatus(of: peer, .away) }
        let pause = known.pace.failed(now: now, limits, &random)
        peers[peer]?.pace = known.pace
        if !timers.isSet(.dial(peer)) { set(.dial(peer), after: pause) }
        forgetIfUseless(peer)
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

/// What a dial rests on; of those that wait, the better founded have more room.
private enum Grounds: Comparable {
    /// Word of a peer that has never proven anything, which costs nothing to forge.
    case rumour
    /// A known peer, of which only old addresses are known.
    case memory
    /// A known peer that is announced, or was linked in this run.
    case expectation
}

// Few at once: a flood of forged peers costs as much as some true ones, and keeps nobody else waiting for long
extension RoomState {
    private func grounds(of dialled: Dialled) -> Grounds {
        guard case .peer(let peer) = dialled, let known = peers[peer], known.record?.isMet == true else {
            return .rumour
        }
        return known.endpoints.isEmpty && !known.wasLinked ? .memory : .expectation
    }

    func hasSlot(for dialled: Dialled) -> Bool {
        let running = dials.values.filter { if case .place = $0 { false } else { true } }.map(grounds)
        guard running.count < limits.dialsAtOnce else { return false }
        switch grounds(of: dialled) {
        case .rumour: return running.count { $0 == .rumour } < limits.dialsOnRumour
        case .memory: return running.count { $0 < .expectation } < limits.dialsOnMemory
        case .expectation: return true
        }
    }

    mutating func queue(_ dialled: Dialled) {
        if !waitingDials.contains(dialled) { waitingDials.append(dialled) }
    }

    /// Starts what waits for a slot: who has failed least first, then the better founded; of rumours the newest.
    mutating func dialNext() {
        while let next = nextWaiting() {
            switch waitingDials.remove(at: next) {
            case .peer(let peer): dial(peer)
            case .sighting(let instance): dial(sighting: instance)
            case .place(let index): dial(place: index)
            }
        }
    }

    private func nextWaiting() -> Int? {
        waitingDials.indices.filter { hasSlot(for: waitingDials[$0]) }.min { isBefore($0, $1) }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let failures = (failures(of: waitingDials[left]), failures(of: waitingDials[right]))
        if failures.0 != failures.1 { return failures.0 < failures.1 }
        let reasons = (grounds(of: waitingDials[left]), grounds(of: waitingDials[right]))
        if reasons.0 != reasons.1 { return reasons.0 > reasons.1 }
        return reasons.0 == .rumour ? left > right : left < right
    }

    private func failures(of dialled: Dialled) -> UInt64 {
        switch dialled {
        case .peer(let peer): peers[peer]?.pace.failures ?? 0
        case .sighting(let instance): sightings[instance]?.pace.failures ?? 0
        case .place: 0
        }
    }

    /// Dials those seen last, at the start: multicast may be silent.
    mutating func dialRemembered() {
        let remembered = peers.filter { !$0.value.candidates.isEmpty }
            .sorted { ($0.value.record?.lastSeen ?? 0, $1.key) > ($1.value.record?.lastSeen ?? 0, $0.key) }
        for (peer, _) in remembered.prefix(limits.maximumRemembered) { dial(peer) }
    }

    /// Tells where peers may come from that were met before.
    mutating func expectRemembered() {
        let remembered = peers.filter { $0.value.record?.isMet == true && !shutOut.contains($0.key) }
            .sorted { ($0.value.record?.lastSeen ?? 0, $0.key) < ($1.value.record?.lastSeen ?? 0, $1.key) }
        let addresses = remembered.flatMap { ($0.value.record?.addresses ?? []).reversed().map(\.address) }
        if !addresses.isEmpty { effects.append(.expect(addresses)) }
    }
}

// Peers that are only talked of
extension RoomState {
    /// Counts a peer that has never proven its key, in place of another if there are too many.
    mutating func noteNewcomer(_ peer: PeerID) {
        guard let known = peers[peer], known.record == nil, !known.isLinked, door[peer] == nil,
            !newcomers.contains(peer)
        else { return }
        if newcomers.count >= limits.maximumNewcomers, let useless = leastHopeful() { forget(useless) }
        newcomers.append(peer)
    }

    /// Who has failed most often, or of these came first.
    private func leastHopeful() -> PeerID? {
        newcomers.indices.filter { peers[newcomers[$0]]?.isDialling != true }
            .min { (failures(of: .peer(newcomers[$0])), $1) > (failures(of: .peer(newcomers[$1])), $0) }
            .map { newcomers[$0] }
    }

    /// Keeps nothing of a peer that has never proven its key and can't be dialled.
    mutating func forgetIfUseless(_ peer: PeerID) {
        guard newcomers.contains(peer), let known = peers[peer], known.candidates.isEmpty, known.hearsay == nil,
            !known.isDialling
        else { return }
        forget(peer)
    }

    mutating func forget(_ peer: PeerID) {
        newcomers.removeAll { $0 == peer }
        waitingDials.removeAll { $0 == .peer(peer) }
        timers.cancel(.dial(peer))
        peers[peer] = nil
        effects.append(.forget(peer))
    }
}
