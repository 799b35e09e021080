import Dispatch
import Foundation
import Locking

struct Failure: Error {}

final class Log<Element: Sendable>: Sendable {
    private let entries = Locked<[Element]>([])
    /// A copy of its own: ThreadSanitizer can't see that a shared buffer is given back before it is written to.
    var all: [Element] { entries.withLock { $0.map { $0 } } }
    func add(_ element: Element) { entries.withLock { $0.append(element) } }
}

/// Keeps what it was given, with nothing to guard it.
///
/// `@unchecked`: `seen` is what the serial delivery is to guard.
final class Unguarded<Element: Sendable>: @unchecked Sendable {
    var seen: [Element] = []
}

/// Runs `body` on a thread of its own.
func finishes(_ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    Thread {
        body()
        done.signal()
    }.start()
    return done.wait(timeout: .now() + .seconds(120)) == .success
}

/// Asks until `condition` holds, for at most 20 s.
func becomesTrue(_ condition: () -> Bool) -> Bool {
    let deadline = DispatchTime.now() + .seconds(20)
    while !condition() {
        if DispatchTime.now() > deadline { return false }
        usleep(1_000)
    }
    return true
}

/// Asks until `condition` holds, for at most 20 s, and lets other tasks run meanwhile.
func comesTrue(_ condition: () -> Bool) async -> Bool {
    let deadline = DispatchTime.now() + .seconds(20)
    while !condition() {
        if DispatchTime.now() > deadline { return false }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return true
}

/// Runs `body` on the main queue, and waits for it.
func onMainQueue(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.main.async {
        body()
        done.signal()
    }
    done.wait()
}
