import Locking

/// Disposes of its members with itself; members can come and go.
public final class CompositeDisposable: Cancelable {
    /// Names a member.
    public struct DisposeKey: Sendable, Hashable {
        let number: Int
    }

    private struct Members {
        var list: [Int: any Disposable]? = [:]  // nil once disposed
        var count = 0  // members ever
    }
    private let members = Locked(Members())

    /// Makes one without members.
    public init() {}

    /// Makes one with members.
    public convenience init(_ disposables: any Disposable...) { self.init(disposables: disposables) }

    /// Makes one with members.
    public init(disposables: [any Disposable]) {
        for disposable in disposables { _ = insert(disposable) }
    }

    /// Whether it has been disposed of.
    public var isDisposed: Bool { members.withLock { $0.list == nil } }

    /// How many members there are.
    public var count: Int { members.withLock { $0.list?.count ?? 0 } }

    /// Adds a member, or disposes of it at once if this is disposed.
    ///
    /// - Returns: Its key, `nil` if it was disposed of.
    public func insert(_ disposable: any Disposable) -> DisposeKey? {
        let key = members.withLock { members -> DisposeKey? in
            guard members.list != nil else { return nil }
            members.count += 1
            members.list?[members.count] = disposable
            return DisposeKey(number: members.count)
        }
        if key == nil { disposable.dispose() }
        return key
    }

    /// Disposes of a member and lets go of it.
    public func remove(for key: DisposeKey) {
        members.withLock { $0.list?.removeValue(forKey: key.number) }?.dispose()
    }

    /// Disposes of all members, in the order in which they came, and of those to come.
    public func dispose() {
        let last = members.withLock { exchange(&$0.list, with: nil) } ?? [:]
        for (_, disposable) in last.sorted(by: { $0.key < $1.key }) { disposable.dispose() }
    }
}
