import Dispatch
import Foundation
import Locking
import Rx

/// Blocks a thread until another one says that it is over.
final class Wait: Sendable {
    private let isOver = Locked(false)
    private let signal = DispatchSemaphore(value: 0)

    func end() {
        isOver.withLock { $0 = true }
        signal.signal()
        wakeMainThread()
    }

    /// - Returns: Whether it was over within `timeout` seconds.
    func run(timeout: TimeInterval?) -> Bool {
        if Thread.isMainThread { return runMainLoop(until: timeout.map { Date(timeIntervalSinceNow: $0) }) }
        guard let timeout else {
            signal.wait()
            return true
        }
        return signal.wait(timeout: .now() + timeout) == .success
    }

    /// Lets that thread's run loop go on meanwhile.
    private func runMainLoop(until deadline: Date?) -> Bool {
        let longestTurn = 0.1  // seconds
        while !isOver.withLock({ $0 }) {
            let end = Date(timeIntervalSinceNow: longestTurn)
            if let deadline, deadline <= Date() { return false }
            _ = RunLoop.current.run(mode: .default, before: min(end, deadline ?? end))
        }
        return true
    }
}
