import Synchronization

/// Only remembers whether it has been disposed of.
public final class BooleanDisposable: Cancelable {
    private let disposed: Atomic<Bool>

    /// Makes one that hasn't been disposed of.
    public init() { disposed = Atomic(false) }

    /// Makes one that may be disposed of already.
    public init(isDisposed: Bool) { disposed = Atomic(isDisposed) }

    /// Whether it has been disposed of.
    public var isDisposed: Bool { disposed.load(ordering: .acquiring) }

    /// Disposes of it.
    public func dispose() { disposed.store(true, ordering: .releasing) }
}
