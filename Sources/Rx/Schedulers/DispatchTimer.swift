import Dispatch

/// A dispatch timer, which lives until it is disposed of.
///
/// `@unchecked`: a dispatch source takes calls from any thread.
final class DispatchTimer: Cancelable, @unchecked Sendable {
    private let source: any DispatchSourceTimer

    private init(
        _ queue: DispatchQueue, due: DispatchTime, repeating: DispatchTimeInterval, leeway: DispatchTimeInterval
    ) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: due, repeating: repeating, leeway: leeway)
    }

    /// Runs work once.
    static func once<State: Sendable>(
        on queue: DispatchQueue, after dueTime: DispatchTimeInterval, leeway: DispatchTimeInterval, _ state: State,
        _ action: @escaping @Sendable (State) -> any Disposable
    ) -> any Disposable {
        let current = SerialDisposable()
        let timer = DispatchTimer(queue, due: .now() + dueTime, repeating: .never, leeway: leeway)
        current.disposable = timer
        timer.start { if !current.isDisposed { current.disposable = action(state) } }
        return current
    }

    /// Runs work again and again.
    ///
    /// A dispatch source's handler never runs twice at once, on whatever queue.
    static func again<State: Sendable>(
        on queue: DispatchQueue, after startAfter: DispatchTimeInterval, every period: DispatchTimeInterval,
        leeway: DispatchTimeInterval, _ state: State, _ action: @escaping @Sendable (State) -> State
    ) -> any Disposable {
        let next = Cell(state)
        let timer = DispatchTimer(queue, due: .now() + startAfter, repeating: period, leeway: leeway)
        timer.start { if !timer.isDisposed { next.value = action(next.value) } }
        return timer
    }

    var isDisposed: Bool { source.isCancelled }

    /// Keeps itself through `work`, which the source holds until it is cancelled.
    private func start(_ work: @escaping @Sendable () -> Void) {
        source.setEventHandler { [self] in withExtendedLifetime(self) { work() } }
        source.resume()
    }

    func dispose() { source.cancel() }
}
