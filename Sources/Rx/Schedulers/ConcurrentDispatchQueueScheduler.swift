public import Dispatch
public import FoundationEssentials

/// Runs work on a dispatch queue, which may run several pieces of it at once.
///
/// `@unchecked`: what it stores is constant, and a dispatch queue takes calls from any thread.
public class ConcurrentDispatchQueueScheduler: SchedulerType, @unchecked Sendable {
    private let queue: DispatchQueue
    private let leeway: DispatchTimeInterval

    /// Uses a queue, which may as well be serial.
    ///
    /// - Parameters:
    ///   - queue: Where the work runs.
    ///   - leeway: How much a timer may be late so that the system can join wake-ups.
    public init(queue: DispatchQueue, leeway: DispatchTimeInterval = .nanoseconds(0)) {
        self.queue = queue
        self.leeway = leeway
    }

    /// Makes a concurrent queue on the global one of a quality of service.
    ///
    /// - Parameters:
    ///   - qos: Which global queue.
    ///   - leeway: How much a timer may be late so that the system can join wake-ups.
    public convenience init(qos: DispatchQoS, leeway: DispatchTimeInterval = .nanoseconds(0)) {
        self.init(
            queue: DispatchQueue(
                label: "rx.global_dispatch_queue.concurrent", qos: qos, attributes: .concurrent,
                target: .global(qos: qos.qosClass)),
            leeway: leeway)
    }

    /// What time it is.
    public var now: RxTime { RxTime() }

    /// Runs work as soon as it can; see ``ImmediateSchedulerType/schedule(_:action:)``.
    public final func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        let lifetime = Lifetime()
        queue.async { if !lifetime.isStopped { lifetime.own(action(state)) } }
        return lifetime
    }

    /// Runs work later; see ``SchedulerType/scheduleRelative(_:dueTime:action:)``.
    public final func scheduleRelative<State: Sendable>(
        _ state: State, dueTime: RxTimeInterval, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        DispatchTimer.once(on: queue, after: dueTime, leeway: leeway, state, action)
    }

    /// Runs work again and again; see ``SchedulerType/schedulePeriodic(_:startAfter:period:action:)``.
    public final func schedulePeriodic<State: Sendable>(
        _ state: State, startAfter: RxTimeInterval, period: RxTimeInterval,
        action: @escaping @Sendable (State) -> State
    ) -> any Disposable {
        DispatchTimer.again(on: queue, after: startAfter, every: period, leeway: leeway, state, action)
    }
}
