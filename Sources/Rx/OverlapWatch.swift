import Locking
import Synchronization

#if DEBUG
    /// Notices when a source outside Rx sends from two threads at once, which the grammar of a sequence forbids.
    ///
    /// What it sends is passed on one at a time all the same; but its order is left to chance.
    @usableFromInline final class OverlapWatch: Sendable {
        private let thread = Atomic<UInt>(0)  // the one that is sending; 0: none
        private let hasReported = Atomic<Bool>(false)

        @usableFromInline init() {}

        @usableFromInline func watch(_ send: () -> Void) {
            let current = currentThread
            let (isFirst, other) = thread.compareExchange(
                expected: 0, desired: current, ordering: .acquiringAndReleasing)
            if !isFirst, other != current, !hasReported.exchange(true, ordering: .relaxed) {
                Hooks.overlapHandler?()
            }
            send()
            if isFirst { thread.store(0, ordering: .releasing) }
        }
    }
#endif
