import Locking

extension ConnectableObservableType {
    /// Connects as long as there are subscribers.
    ///
    /// - Returns: A sequence that connects with its first subscriber and lets go of the connection with its last; after
    ///   the ending, the next subscriber connects anew. ReactiveX: RefCount.
    public func refCount() -> Observable<Element> {
        if let connectable = self as? ConnectableObservable<Element> { return Observable(connectable.counting) }
        let node = RefCountNode(self)
        return Observable { node.attach($0) }
    }
}

/// Counts the subscribers of a sequence that Rx did not make.
private final class RefCountNode<Source: ConnectableObservableType>: Sendable {
    private struct State {
        var number = 0  // of the connection
        var subscribers = 0
        var isConnecting = false
        var connection: (any Disposable)?

        /// - Returns: What is over, to be disposed of outside the lock.
        mutating func renew() -> State { exchange(&self, with: State(number: number + 1)) }
    }

    private let source: Source
    private let state = Locked(State())

    init(_ source: Source) { self.source = source }

    func attach(_ sink: Sink<Source.Element>) {
        let lifetime = Lifetime()
        let number = state.withLock { state in
            state.subscribers += 1
            return state.number
        }
        sink.lifetime.own { [self] in
            lifetime.dispose()
            leave(number)
        }
        source.asObservable().attach(lifetime) { [self] event in
            if event.isStopEvent { end(number) }
            sink.on(event)
        }
        if mayConnect(number) { settle(source.connect(), number) }
    }

    /// - Returns: Whether this is the first subscriber and still wants the connection.
    private func mayConnect(_ number: Int) -> Bool {
        state.withLock { state in
            let isFirst = state.connection == nil && !state.isConnecting
            guard state.number == number, state.subscribers > 0, isFirst else { return false }
            state.isConnecting = true
            return true
        }
    }

    /// Keeps a connection, unless it or the wish for it is over.
    private func settle(_ connection: any Disposable, _ number: Int) {
        let isWanted = state.withLock { state in
            if state.number != number { return false }
            state.isConnecting = false
            if state.subscribers > 0 {
                state.connection = connection
                return true
            }
            state.number += 1
            return false
        }
        if !isWanted { connection.dispose() }
    }

    /// While it is being connected, the connection stays: a new subscriber may want it.
    private func leave(_ number: Int) {
        let stale = state.withLock { state -> State? in
            guard state.number == number else { return nil }
            state.subscribers -= 1
            return state.subscribers == 0 && !state.isConnecting ? state.renew() : nil
        }
        stale?.connection?.dispose()
    }

    private func end(_ number: Int) {
        let stale = state.withLock { $0.number == number ? $0.renew() : nil }
        stale?.connection?.dispose()
    }
}
