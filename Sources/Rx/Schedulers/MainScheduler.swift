import Dispatch
import Synchronization

/// Runs work on the main queue: at once if it is scheduled there and none is waiting.
///
/// `@unchecked`: `waiting` is atomic.
public final class MainScheduler: SerialDispatchQueueScheduler, @unchecked Sendable {
    /// The one to use.
    public static let instance = MainScheduler()

    /// Always queues, also there.
    public static let asyncInstance = SerialDispatchQueueScheduler(
        serialQueue: .main, leeway: .nanoseconds(0))

    /// Marks the main queue.
    private static let mark = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    private let waiting = Atomic<Int>(0)  // pieces of work that are queued, or running at once

    /// Makes one with an order of its own; see ``instance``.
    public init() { super.init(serialQueue: .main, leeway: .nanoseconds(0)) }

    /// Stops the program with a message if it isn't called on the main queue.
    public static func ensureExecutingOnScheduler(errorMessage: String? = nil) {
        precondition(isCurrent, errorMessage ?? "must run on the main queue")
    }

    /// Stops the program with a message if it isn't called on the main queue.
    public static func ensureRunningOnMainThread(errorMessage: String? = nil) {
        precondition(isCurrent, errorMessage ?? "must run on the main queue")
    }

    override func scheduleInternal<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        if enter() {
            defer { leave() }
            return action(state)
        }
        let lifetime = Lifetime()
        run { [self] in
            if !lifetime.isStopped { lifetime.own(action(state)) }
            leave()
        }
        return lifetime
    }

    override func runTurn(_ work: @escaping @Sendable () -> Void) {
        if enter() {
            work()
            return leave()
        }
        run { [self] in
            work()
            leave()
        }
    }

    /// Counts a piece of work.
    ///
    /// - Returns: Whether it may run at once.
    private func enter() -> Bool {
        waiting.add(1, ordering: .acquiringAndReleasing).oldValue == 0 && Self.isCurrent
    }

    private func leave() { waiting.subtract(1, ordering: .acquiringAndReleasing) }
}
