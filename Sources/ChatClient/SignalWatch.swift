import Dispatch
import Glibc

/// Takes signals as events instead of dying of them; gives them back their old meaning at the end.
final class SignalWatch {
    private var sources: [any DispatchSourceSignal] = []
    private var before: [(CInt, sigaction)] = []

    init(_ signals: [CInt], _ report: @escaping @Sendable (CInt) -> Void) {
        let queue = DispatchQueue(label: "chat.signals")
        for number in signals {
            var ignored = sigaction()
            ignored.__sigaction_handler.sa_handler = SIG_IGN
            var old = sigaction()
            sigaction(number, &ignored, &old)
            before.append((number, old))
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { report(number) }
            source.resume()
            sources.append(source)
        }
    }

    func stop() {
        for source in sources { source.cancel() }
        sources = []
        for (number, old) in before {
            var old = old
            sigaction(number, &old, nil)
        }
        before = []
    }

    deinit { stop() }
}
