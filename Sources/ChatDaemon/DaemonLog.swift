import Dispatch
import Glibc
import Locking

/// Lines for whoever runs the daemon, on standard error.
///
/// A reader that is slow or gone never holds up the daemon: lines wait on a queue of their own, a bounded number of
/// them, and an error to write is nobody's concern.
final class DaemonLog: Sendable {
    private static let limit = 1_000  // lines waiting

    private let queue = DispatchQueue(label: "chat.daemon.log")
    private let waiting = Locked((lines: 0, dropped: 0))
    /// What came before ``begin(with:)``; `nil` after it.
    private let early = Locked<[String]?>([])

    /// Writes these lines first, then those that have come already, then all others.
    func begin(with lines: [String]) {
        early.withLock { early in
            for line in lines + (early ?? []) { add(line) }
            early = nil
        }
    }

    /// Writes `chatd: ` and the line, once ``begin(with:)`` was called; any thread.
    func callAsFunction(_ line: String) {
        let isEarly = early.withLock { early in
            early?.append(line)
            return early != nil
        }
        if !isEarly { add(line) }
    }

    private func add(_ line: String) {
        let isTaken = waiting.withLock { waiting in
            if waiting.lines >= Self.limit {
                waiting.dropped += 1
                return false
            }
            waiting.lines += 1
            return true
        }
        if isTaken { queue.async { [self] in write(line) } }
    }

    /// Waits until everything is written, or for half a second: a reader that stands still holds nobody up.
    func flush() {
        let isWritten = DispatchSemaphore(value: 0)
        queue.async { isWritten.signal() }
        _ = isWritten.wait(timeout: .now() + .milliseconds(500))
    }

    private func write(_ line: String) {
        let dropped = waiting.withLock { waiting in
            waiting.lines -= 1
            defer { waiting.dropped = 0 }
            return waiting.dropped
        }
        if dropped > 0 { put("chatd: \(dropped) lines were left out\n") }
        put("chatd: \(line)\n")
    }

    private func put(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
