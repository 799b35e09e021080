import Locking

/// Disposes of something on a scheduler.
public final class ScheduledDisposable: Cancelable {
    /// Where it does.
    public let scheduler: any ImmediateSchedulerType

    private let disposable: Locked<(any Disposable)?>

    /// Takes over something to be disposed of.
    public init(scheduler: any ImmediateSchedulerType, disposable: any Disposable) {
        self.scheduler = scheduler
        self.disposable = Locked(disposable)
    }

    /// Whether it has been disposed of, on the scheduler.
    public var isDisposed: Bool { disposable.withLock { $0 == nil } }

    /// Asks the scheduler to dispose of it.
    public func dispose() {
        _ = scheduler.schedule(()) { [self] in
            disposable.withLock { $0.take() }?.dispose()
            return Disposables.create()
        }
    }
}
