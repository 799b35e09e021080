import Dispatch
import Glibc
import Rx

/// SIGTERM, SIGINT and SIGHUP, as events in place of dying of them.
struct EndingSignals {
    private static let numbers = [SIGTERM, SIGINT, SIGHUP]
    private let sources: [any DispatchSourceSignal]
    private let relay = ReplayRelay<CInt>.create(bufferSize: 1)

    /// From now on these signals don't end the process.
    init() {
        let queue = DispatchQueue(label: "chat.daemon.signals")
        sources = Self.numbers.map { [relay] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { relay.accept(number) }
            source.resume()
            return source
        }
    }

    /// The latest one that arrived, and each that comes, for as long as this lives.
    var arrivals: Observable<CInt> { relay.asObservable() }
}
