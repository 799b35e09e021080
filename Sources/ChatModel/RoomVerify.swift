import Identity

// Whether all hold the same (docs/protocol.md, "Verify")
extension RoomState {
    /// Asks everybody who is linked, or some of them, what is on their disks.
    mutating func verify(_ question: UInt64, _ asked: Set<PeerID>?) {
        let peers = linked.filter { asked?.contains($0) ?? true }
        effects.append(.asked(question, peers))
        for peer in peers { effects.append(.send(peer, [.verify(question)])) }
    }

    /// Reading all of it takes a while: one answer at a time for each peer.
    mutating func answer(_ question: UInt64, to peer: PeerID) {
        guard peers[peer]?.isVerifying == false else { return }
        peers[peer]?.isVerifying = true
        let blocked = peers.filter { $0.value.record?.verdict == .blocked }.keys
        effects.append(.answer(question, without: Set(blocked), to: peer))
    }
}
