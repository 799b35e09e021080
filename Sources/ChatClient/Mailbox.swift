import Dispatch
import Locking

/// What several threads put in, one takes out, in order.
final class Mailbox<Item: Sendable>: Sendable {
    private let items = Locked<[Item]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ item: Item) {
        items.withLock { $0.append(item) }
        count.signal()
    }

    /// Waits for the next item; `nil` after `limit` milliseconds without one.
    func take(within limit: Int? = nil) -> Item? {
        let deadline = limit.map { DispatchTime.now() + .milliseconds($0) } ?? .distantFuture
        guard count.wait(timeout: deadline) == .success else { return nil }
        return items.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
