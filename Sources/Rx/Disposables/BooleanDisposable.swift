import Synchronization

/// Only remembers whether it has been disposed of.
public final class BooleanDisposable: Cancelable {
    private let disposed: Atomic<Bool>

    public init() { disposed = Atomic(false) }

    public init(isDisposed: Bool) { disposed = Atomic(isDisposed) }

    public var isDisposed: Bool { disposed.load(ordering: .acquiring) }

    public func dispose() { disposed.store(true, ordering: .releasing) }
}
