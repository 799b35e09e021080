import Dispatch

/// A dispatch source for one descriptor that can be held back, and is only cancelled at its end.
///
/// One that was cancelled and made anew for the same descriptor can miss every later event (libdispatch on Linux).
///
/// Confined to the source's queue.
final class PausableSource {
    private let source: any DispatchSourceProtocol
    private var isPaused = true
    private var isCancelled = false

    /// Paused at first.
    init(_ source: any DispatchSourceProtocol) { self.source = source }

    deinit { cancel() }

    func pause() {
        if isPaused || isCancelled { return }
        isPaused = true
        source.suspend()
    }

    func resume() {
        if !isPaused || isCancelled { return }
        isPaused = false
        source.resume()
    }

    func cancel() {
        if isCancelled { return }
        resume()  // a suspended source can't be let go of
        isCancelled = true
        source.cancel()
    }
}
