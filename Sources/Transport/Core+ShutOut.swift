import Identity

/// Peers that get no link: their connections are closed as soon as it is known whose they are.
extension Core {
    func shut(out peers: Set<PeerID>) {
        shutOut = peers
        for link in Array(links.values) {
            guard let peer = link.peer, peers.contains(peer) else { continue }
            ended(link, .closed)
        }
    }

    /// Closes a connection of one of them without a word.
    ///
    /// - Returns: Whether it was one.
    func turnedAway(_ link: Link, _ peer: PeerID) -> Bool {
        guard shutOut.contains(peer) else { return false }
        if link.isDialler { attemptEnded(link, "\(peer.suffix) is shut out") } else { drop(link) }
        return true
    }
}
