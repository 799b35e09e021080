import Dispatch
import Glibc

/// SIGTERM, SIGINT and SIGHUP, waited for in place of dying of them.
struct EndingSignals {
    private static let numbers = [SIGTERM, SIGINT, SIGHUP]
    private let arrived = DispatchSemaphore(value: 0)
    private let sources: [any DispatchSourceSignal]

    /// From now on these signals don't end the process.
    init() {
        let queue = DispatchQueue(label: "chat.daemon.signals")
        sources = Self.numbers.map { [arrived] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { arrived.signal() }
            source.resume()
            return source
        }
    }

    func wait() { withExtendedLifetime(sources) { arrived.wait() } }
}
