import Identity

/// Peers that are read no further for now, so that what they send waits with them.
extension Core {
    func pauseReading(of peer: PeerID) { paused.insert(peer) }

    func resumeReading(of peer: PeerID) {
        guard paused.remove(peer) != nil else { return }
        for link in neighbours[peer]?.links ?? [] where link.phase == .up { link.resumeReading() }
    }
}
