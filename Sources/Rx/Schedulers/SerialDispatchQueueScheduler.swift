public import Dispatch
public import FoundationEssentials

/// Runs work on a serial dispatch queue, one thing after the other.
///
/// `@unchecked`: what it stores is constant; a subclass says what guards its own.
public class SerialDispatchQueueScheduler: SchedulerType, @unchecked Sendable {
    private let queue: DispatchQueue
    private let leeway: DispatchTimeInterval

    init(serialQueue: DispatchQueue, leeway: DispatchTimeInterval) {
        queue = serialQueue
        self.leeway = leeway
    }

    /// Makes a serial queue of its own.
    ///
    /// - Parameters:
    ///   - internalSerialQueueName: The queue's label.
    ///   - serialQueueConfiguration: Sets the queue up further.
    ///   - leeway: How much a timer may be late so that the system can join wake-ups.
    public convenience init(
        internalSerialQueueName: String, serialQueueConfiguration: ((DispatchQueue) -> Void)? = nil,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {
        let queue = DispatchQueue(label: internalSerialQueueName)
        serialQueueConfiguration?(queue)
        self.init(serialQueue: queue, leeway: leeway)
    }

    /// Makes a serial queue that runs on another one, which needn't be serial itself.
    ///
    /// - Parameters:
    ///   - queue: Where the work runs in the end.
    ///   - internalSerialQueueName: The label of the queue in front of it.
    ///   - leeway: How much a timer may be late so that the system can join wake-ups.
    public convenience init(
        queue: DispatchQueue, internalSerialQueueName: String, leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {
        self.init(serialQueue: DispatchQueue(label: internalSerialQueueName, target: queue), leeway: leeway)
    }

    /// Makes a serial queue on the global one of a quality of service.
    ///
    /// - Parameters:
    ///   - qos: Which global queue.
    ///   - internalSerialQueueName: The label of the queue in front of it.
    ///   - leeway: How much a timer may be late so that the system can join wake-ups.
    public convenience init(
        qos: DispatchQoS, internalSerialQueueName: String = "rx.global_dispatch_queue.serial",
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {
        self.init(
            queue: .global(qos: qos.qosClass), internalSerialQueueName: internalSerialQueueName, leeway: leeway)
    }

    /// What time it is.
    public var now: RxTime { RxTime() }

    /// Runs work as soon as it can; see ``ImmediateSchedulerType/schedule(_:action:)``.
    public final func schedule<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable { scheduleInternal(state, action: action) }

    /// What ``schedule(_:action:)`` does; a subclass that knows better when to run overrides it.
    func scheduleInternal<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        let lifetime = Lifetime()
        queue.async { if !lifetime.isStopped { lifetime.own(action(state)) } }
        return lifetime
    }

    /// Runs work that can't be cancelled, when ``schedule(_:action:)`` would.
    func runTurn(_ work: @escaping @Sendable () -> Void) { run(work) }

    /// Queues work that can't be cancelled.
    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

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
