import Addressing
import Identity

/// A member of a keyed room that is announced without a PeerID.
struct Sighting {
    var endpoints: [Endpoint]
    /// Who it turned out to be.
    var peer: PeerID?
    var pace = Pace()
    var isDialling = false
}

// Adverts that don't say whose they are
extension RoomState {
    mutating func sighted(_ instance: String, at endpoints: [Endpoint]) {
        if sightings[instance] == nil, sightings.count >= limits.maximumSightings {
            guard let useless = leastHopefulSighting() else { return }
            vanished(useless)
        }
        sightings[instance, default: Sighting(endpoints: [])].endpoints = endpoints
        if let peer = sightings[instance]?.peer { return found(peer, at: endpoints) }
        sightings[instance]?.pace.succeeded()
        dial(sighting: instance)
    }

    /// Who has failed most often, and isn't known.
    private func leastHopefulSighting() -> String? {
        sightings.filter { $0.value.peer == nil && !$0.value.isDialling }
            .min { ($0.value.pace.failures, $1.key) > ($1.value.pace.failures, $0.key) }?.key
    }

    mutating func vanished(_ instance: String) {
        timers.cancel(.dialSighting(instance))
        waitingDials.removeAll { $0 == .sighting(instance) }
        if let peer = sightings.removeValue(forKey: instance)?.peer { lost(peer) }
    }

    /// A peer says which advert is its own, so that it isn't dialled for that.
    mutating func recognize(_ peer: PeerID, as instance: String) {
        guard let sighting = sightings[instance], sighting.peer == nil else { return }
        timers.cancel(.dialSighting(instance))
        sightings[instance]?.peer = peer
        peers[peer]?.endpoints = sighting.endpoints
    }

    mutating func dial(sighting instance: String) {
        guard let sighting = sightings[instance], sighting.peer == nil, !sighting.isDialling else { return }
        guard hasSlot(for: .sighting(instance)) else { return queue(.sighting(instance)) }
        timers.cancel(.dialSighting(instance))
        sightings[instance]?.isDialling = true
        effects.append(.dial(number(.sighting(instance)), .endpoints(sighting.endpoints), replacingSilent: false))
    }

    mutating func dialled(sighting instance: String, _ outcome: DialOutcome) {
        guard var sighting = sightings[instance] else { return }
        sighting.isDialling = false
        defer { sightings[instance] = sighting }
        if case .linked(let peer) = outcome {
            sighting.peer = peer
            peers[peer]?.endpoints = sighting.endpoints
            // The link may be gone again.
            if peers[peer]?.isLinked == false { set(.dial(peer), after: limits.dialPauseLimit) }
        } else if sighting.peer == nil {
            set(.dialSighting(instance), after: sighting.pace.failed(now: now, limits, &random))
        }
    }
}
