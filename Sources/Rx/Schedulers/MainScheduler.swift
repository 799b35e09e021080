import Dispatch
import Foundation
import Synchronization

/// Runs work on the main thread: at once if it is scheduled there and none is waiting, else on the main queue.
///
/// `@unchecked`: `waiting` is atomic.
public final class MainScheduler: SerialDispatchQueueScheduler, @unchecked Sendable {
    /// The one to use.
    public static let instance = MainScheduler()

    /// Always queues, also on the main thread.
    public static let asyncInstance = SerialDispatchQueueScheduler(
        serialQueue: .main, leeway: .nanoseconds(0))

    private let waiting = Atomic<Int>(0)  // pieces of work that are queued, or running at once

    public init() { super.init(serialQueue: .main, leeway: .nanoseconds(0)) }

    /// Stops the program with a message if this isn't the main thread.
    public static func ensureExecutingOnScheduler(errorMessage: String? = nil) {
        precondition(Thread.isMainThread, errorMessage ?? "must run on the main thread")
    }

    /// Stops the program with a message if this isn't the main thread.
    public static func ensureRunningOnMainThread(errorMessage: String? = nil) {
        precondition(Thread.isMainThread, errorMessage ?? "must run on the main thread")
    }

    override func scheduleInternal<State: Sendable>(
        _ state: State, action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        let isFirst = waiting.add(1, ordering: .acquiringAndReleasing).oldValue == 0
        if isFirst, Thread.isMainThread {
            defer { waiting.subtract(1, ordering: .acquiringAndReleasing) }
            return action(state)
        }
        let lifetime = Lifetime()
        run { [self] in
            if !lifetime.isStopped { lifetime.own(action(state)) }
            waiting.subtract(1, ordering: .acquiringAndReleasing)
        }
        return lifetime
    }
}
