import Locking

/// The sources that one operator is subscribed to at once.
@usableFromInline final class LifetimeGroup: Disposable {
    private let members = Locked<[ObjectIdentifier: Lifetime]?>([:])  // nil once disposed

    @usableFromInline init() {}

    var count: Int { members.withLock { $0?.count ?? 0 } }

    /// - Returns: A lifetime that ends with the group, already ended if the group has.
    @usableFromInline func make() -> Lifetime {
        let lifetime = Lifetime()
        let isOver = members.withLock { members in
            members?[ObjectIdentifier(lifetime)] = lifetime
            return members == nil
        }
        if isOver { lifetime.dispose() }
        return lifetime
    }

    @usableFromInline func remove(_ lifetime: Lifetime) {
        _ = members.withLock { $0?.removeValue(forKey: ObjectIdentifier(lifetime)) }
    }

    @usableFromInline func dispose() {
        let last = members.withLock { exchange(&$0, with: nil) }
        for lifetime in (last ?? [:]).values { lifetime.dispose() }
    }
}
