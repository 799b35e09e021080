import Locking

/// How many instances of our service show, of whatever room; told once when they are too many to be true.
final class Crowd: Sendable {
    /// More hosts than a room has: somebody forges, and a stack's cache may be full (docs/protocol.md, "Discovery").
    static let limit = 256

    private struct State {
        var instances: Set<[UInt8]> = []
        var isTold = false
    }

    private let state = Locked(State())

    /// - Returns: Whether it has just become too many.
    func note(_ event: StackEvent) -> Bool {
        state.withLock { state in
            switch event {
            case .appeared(let record) where state.instances.count <= Self.limit:
                state.instances.insert(record.instance)
            case .vanished(let record): state.instances.remove(record.instance)
            default: return false
            }
            guard state.instances.count > Self.limit, !state.isTold else { return false }
            state.isTold = true
            return true
        }
    }
}
