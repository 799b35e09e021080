import CAvahi
import Dispatch
import Glibc
import Locking

/// libavahi's event loop on a thread of its own, and the one queue that calls into libavahi run on.
///
/// A hung avahi-daemon blocks a call for 25 s: nobody but this queue waits for it.
///
/// `@unchecked`: `poll` and `held` are only touched on `queue`, and libavahi guards what they point to by its lock.
final class AvahiLoop: @unchecked Sendable {
    private static let patience: UInt64 = 3_000_000_000  // ns
    private static let lowPriority: CInt = 10  // nice(2)

    private let isModest: Bool
    private let queue = DispatchQueue(label: "chat.discovery.avahi")
    private var poll: OpaquePointer?
    private var held: OpaquePointer?  // the loop whose lock we have
    private let busySince = Locked<UInt64?>(nil)

    /// With `isModest` the thread stands back behind all others.
    init(isModest: Bool = false) { self.isModest = isModest }

    /// Whether a call has been waiting for an answer for more than 3 s.
    var isStuck: Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        return busySince.withLock { $0.map { now - min($0, now) > Self.patience } ?? false }
    }

    /// Runs `body` on the queue with libavahi's lock held, so that no callback runs meanwhile.
    func perform(_ body: @escaping @Sendable () -> Void) { queue.async { [self] in performNow(body) } }

    func perform(after delay: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay) { [self] in performNow(body) }
    }

    private func performNow(_ body: () -> Void) {
        busySince.withLock { $0 = DispatchTime.now().uptimeNanoseconds }
        held = poll
        held.map(avahi_threaded_poll_lock)
        body()
        held.take().map(avahi_threaded_poll_unlock)
        busySince.withLock { $0 = nil }
    }

    /// Starts the thread for a client or a server; inside ``perform(_:)``.
    ///
    /// Each has a thread of its own: libavahi aborts when one is added to a loop that is waiting.
    ///
    /// - Returns: What `make` made; without that there is no thread.
    func begin(_ make: (UnsafePointer<AvahiPoll>) -> OpaquePointer?) -> OpaquePointer? {
        precondition(poll == nil, "one client or server at a time")
        guard let poll = avahi_threaded_poll_new() else { return nil }
        guard let made = make(avahi_threaded_poll_get(poll)) else {
            avahi_threaded_poll_free(poll)
            return nil
        }
        if isModest { startModestly(poll) } else { avahi_threaded_poll_start(poll) }
        self.poll = poll
        return made
    }

    /// A thread begins with the priority of the one that makes it, and only root could raise that again.
    private func startModestly(_ poll: OpaquePointer) {
        var maker = pthread_t()
        let code = pthread_create(
            &maker, nil,
            { poll in
                // Of this thread alone (setpriority(2), "C library/kernel differences").
                _ = setpriority(CInt(PRIO_PROCESS.rawValue), 0, AvahiLoop.lowPriority)
                avahi_threaded_poll_start(OpaquePointer(poll))
                return nil
            }, UnsafeMutableRawPointer(poll))
        guard code == 0 else { return _ = avahi_threaded_poll_start(poll) }
        pthread_join(maker, nil)
    }

    /// Ends the thread, then frees what it was for; inside ``perform(_:)``.
    func end(_ free: () -> Void) {
        held.take().map(avahi_threaded_poll_unlock)
        guard let poll = poll.take() else { return }
        avahi_threaded_poll_stop(poll)
        free()
        avahi_threaded_poll_free(poll)
    }
}
