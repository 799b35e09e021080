import Identity
import Locking

/// How many bytes wait for each peer, for any thread to read or to wait for.
///
/// Counted from the call of ``Transport/send(_:to:over:)`` until they are written or dropped.
struct QueueLedger: Sendable {
    private struct Lane: Hashable {
        let peer: PeerID
        let purpose: LinkPurpose
    }

    private struct Waiter {
        let limit: Int
        let perform: @Sendable () -> Void
    }

    private struct Queues {
        var bytes: [Lane: Int] = [:]
        var waiters: [Lane: [Waiter]] = [:]
    }

    private let queues = Locked(Queues())

    func bytes(to peer: PeerID, over purpose: LinkPurpose) -> Int {
        queues.withLock { $0.bytes[Lane(peer: peer, purpose: purpose)] ?? 0 }
    }

    func add(_ count: Int, to peer: PeerID, over purpose: LinkPurpose) {
        if count == 0 { return }
        let lane = Lane(peer: peer, purpose: purpose)
        let due: [Waiter] = queues.withLock { queues in
            let total = queues.bytes[lane, default: 0] + count
            queues.bytes[lane] = total == 0 ? nil : total
            guard count < 0, let waiters = queues.waiters[lane] else { return [] }
            let rest = waiters.filter { $0.limit < total }
            queues.waiters[lane] = rest.isEmpty ? nil : rest
            return waiters.filter { $0.limit >= total }
        }
        for waiter in due { waiter.perform() }
    }

    /// Runs `perform` once, without a lock, when at most `limit` bytes wait: now, or from ``add(_:to:over:)``.
    func whenAtMost(
        _ limit: Int, to peer: PeerID, over purpose: LinkPurpose, _ perform: @escaping @Sendable () -> Void
    ) {
        let lane = Lane(peer: peer, purpose: purpose)
        let isDue = queues.withLock { queues in
            if queues.bytes[lane] ?? 0 <= limit { return true }
            queues.waiters[lane, default: []].append(Waiter(limit: limit, perform: perform))
            return false
        }
        if isDue { perform() }
    }
}
