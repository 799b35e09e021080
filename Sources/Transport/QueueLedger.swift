import Identity
import Locking

/// How many bytes wait for each peer, for any thread to read.
///
/// Counted from the call of ``Transport/send(_:to:over:)`` until they are written or dropped.
struct QueueLedger: Sendable {
    private struct Lane: Hashable {
        let peer: PeerID
        let purpose: LinkPurpose
    }

    private let waiting = Locked<[Lane: Int]>([:])

    func bytes(to peer: PeerID, over purpose: LinkPurpose) -> Int {
        waiting.withLock { $0[Lane(peer: peer, purpose: purpose)] ?? 0 }
    }

    func add(_ count: Int, to peer: PeerID, over purpose: LinkPurpose) {
        if count == 0 { return }
        let lane = Lane(peer: peer, purpose: purpose)
        waiting.withLock { waiting in
            let total = waiting[lane, default: 0] + count
            waiting[lane] = total == 0 ? nil : total
        }
    }
}
