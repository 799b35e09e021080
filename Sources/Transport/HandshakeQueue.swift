import Dispatch

/// Has the steps of connections' openings computed away from Transport's queue, a few at a time.
///
/// A step is what the bytes of one read allow; a connection that waits for bytes is not in here and holds no thread.
/// Connections that we dialled, or that come from where peers were, go first, and strangers who knock get all but one of
/// the places: so they can't keep us from our peers.
///
/// `@unchecked`: all that changes is only touched on `queue`.
final class HandshakeQueue: @unchecked Sendable {
    private let workers = DispatchQueue(label: "groupchat.handshakes", attributes: .concurrent)
    private let queue: DispatchQueue
    private let limit: Int
    private var running = 0
    private var strangersRunning = 0
    private var expected: [Link] = []
    private var strangers: [Link] = []

    /// - Parameters:
    ///   - queue: Transport's.
    ///   - limit: Most steps computed at once.
    init(on queue: DispatchQueue, limit: Int) {
        self.queue = queue
        self.limit = limit
    }

    /// Computes what a link's new bytes allow, as soon as there is room, and tells it.
    func add(_ link: Link) {
        if link.isExpected { expected.append(link) } else { strangers.append(link) }
        startNext()
    }

    private func startNext() {
        while running < limit, let link = next() {
            let isStranger = !link.isExpected
            // It may have run out of time while it waited.
            guard link.phase == .opening, let opening = link.opening else { continue }
            running += 1
            if isStranger { strangersRunning += 1 }
            let bytes = link.takeEarly()
            workers.async { [self] in
                let progress = opening.feed(bytes)
                queue.async { [self] in
                    running -= 1
                    if isStranger { strangersRunning -= 1 }
                    link.advanced(progress)
                    startNext()
                }
            }
        }
    }

    private func next() -> Link? {
        if !expected.isEmpty { return expected.removeFirst() }
        return strangers.isEmpty || strangersRunning >= max(1, limit - 1) ? nil : strangers.removeFirst()
    }
}
