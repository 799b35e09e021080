public import Dispatch
public import FoundationEssentials

/// Runs work on the main queue: at once whenever it is scheduled there, so also inside other work.
///
/// For `subscribe(on:)`; where order matters, see ``MainScheduler``.
public final class ConcurrentMainScheduler: SchedulerType {
    /// The one to use.
    public static let instance = ConcurrentMainScheduler()

    private init() {}

    /// What time it is.
    public var now: RxTime { MainScheduler.asyncInstance.now }

    /// Runs work as soon as it can; see ``ImmediateSchedulerType/schedule(_:action:)``.
    public func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        MainScheduler.isCurrent ? action(state) : MainScheduler.asyncInstance.schedule(state, action: action)
    }

    /// Runs work later; see ``SchedulerType/scheduleRelative(_:dueTime:action:)``.
    public func scheduleRelative<State: Sendable>(
        _ state: State, dueTime: RxTimeInterval, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        MainScheduler.asyncInstance.scheduleRelative(state, dueTime: dueTime, action: action)
    }

    /// Runs work again and again; see ``SchedulerType/schedulePeriodic(_:startAfter:period:action:)``.
    public func schedulePeriodic<State: Sendable>(
        _ state: State, startAfter: RxTimeInterval, period: RxTimeInterval,
        action: @escaping @Sendable (State) -> State
    ) -> any Disposable {
        MainScheduler.asyncInstance.schedulePeriodic(state, startAfter: startAfter, period: period, action: action)
    }
}
