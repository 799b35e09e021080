import Dispatch
import Locking
import Rx

extension Observable {
    /// Subscribes, and waits until the sequence has ended and everything of it has been let go of.
    ///
    /// - Throws: The sequence's error.
    func waitForEnd() throws {
        let isOver = DispatchSemaphore(value: 0)
        let failure = Locked<(any Error)?>(nil)
        let subscription = subscribe(
            onError: { error in failure.withLock { $0 = error } }, onDisposed: { isOver.signal() })
        withExtendedLifetime(subscription) { isOver.wait() }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
