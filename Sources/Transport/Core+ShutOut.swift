import Identity

/// Peers that may have no link: their connections are closed as soon as it is known whose they are.
extension Core {
    func askAgainWhoMayLink() {
        for link in Array(links.values) {
            guard let peer = link.peer, !mayLink(peer) else { continue }
            ended(link, .closed)
        }
    }

    /// Closes a connection of one of them without a word.
    ///
    /// - Returns: Whether it was one.
    func turnedAway(_ link: Link, _ peer: PeerID) -> Bool {
        if mayLink(peer) { return false }
        if link.isDialler { attemptEnded(link, "\(peer.suffix) is shut out") } else { drop(link) }
        return true
    }
}
