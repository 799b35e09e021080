import Locking

extension ConnectableObservableType {
    /// Connects as long as there are subscribers.
    ///
    /// - Returns: A sequence that connects with its first subscriber and lets go of the connection with its last; after
    ///   the ending, the next subscriber connects anew. ReactiveX: RefCount.
    public func refCount() -> Observable<Element> {
        let node = RefCountNode(self)
        return Observable { node.attach($0) }
    }
}

private final class RefCountNode<Source: ConnectableObservableType>: Sendable {
    private struct State {
        var subscribers = 0
        var connection: SingleAssignmentDisposable?
        var number = 0  // of the connection

        /// - Returns: The connection that is over.
        mutating func renew() -> SingleAssignmentDisposable? {
            number += 1
            subscribers = 0
            return exchange(&connection, with: nil)
        }
    }

    private let source: Source
    private let state = Locked(State())

    init(_ source: Source) { self.source = source }

    func attach(_ sink: Sink<Source.Element>) {
        let lifetime = Lifetime()
        let number = enter()
        sink.lifetime.own { [self] in
            lifetime.dispose()
            leave(number)
        }
        source.asObservable().attach(lifetime) { [self] event in
            if event.isStopEvent { end(number) }
            sink.on(event)
        }
        if let connection = due(number) { connection.setDisposable(source.connect()) }
    }

    private func enter() -> Int {
        state.withLock { state in
            state.subscribers += 1
            return state.number
        }
    }

    /// - Returns: The connection to make, if this is the first subscriber and still wants it.
    private func due(_ number: Int) -> SingleAssignmentDisposable? {
        state.withLock { state in
            guard state.number == number, state.subscribers > 0, state.connection == nil else { return nil }
            state.connection = SingleAssignmentDisposable()
            return state.connection
        }
    }

    private func leave(_ number: Int) {
        let last = state.withLock { state -> SingleAssignmentDisposable? in
            guard state.number == number else { return nil }
            state.subscribers -= 1
            return state.subscribers == 0 ? state.renew() : nil
        }
        last?.dispose()
    }

    private func end(_ number: Int) {
        let last = state.withLock { $0.number == number ? $0.renew() : nil }
        withExtendedLifetime(last) {}  // let go of only here, without the lock
    }
}
