extension ObservableType {
    /// Goes on with another sequence where the source fails.
    ///
    /// - Parameter handler: Gets the error and makes the sequence. What it throws is the sequence's error.
    /// - Returns: The source's elements, then those of the other one, which is subscribed to once the source has been let
    ///   go of; ends as it does. ReactiveX: Catch.
    @inlinable public func `catch`(
        _ handler: @escaping @Sendable (any Error) throws -> Observable<Element>
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let lifetime = Lifetime(), current = SerialDisposable()
            current.disposable = lifetime
            sink.lifetime.own(current)
            source.attach(lifetime) { event in
                guard case .error(let error) = event else { return sink.on(event) }
                let next = Lifetime()
                do {
                    let other = try handler(error)
                    current.disposable = next
                    other.attach(next, sink.on)
                } catch { sink.on(.error(error)) }
            }
        }
    }

    /// Goes on with the next source where one fails.
    ///
    /// - Parameter sequence: The sources; a source is subscribed to when the one before has failed and been let go of.
    /// - Returns: Completes with the first source that does, and fails with the last. ReactiveX: Catch.
    @inlinable public static func `catch`<Sources: Sequence & Sendable>(sequence: Sources) -> Observable<Element>
    where Sources.Element == Observable<Element> {
        Observable { sink in
            let node = CatchNode(sink, sequence)
            sink.lifetime.own(node.current)
            node.subscribe(after: nil)
        }
    }
}

/// `@unchecked`: `next` is only called inside `queue`.
@usableFromInline final class CatchNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let next: () -> Observable<Element>?
    @usableFromInline let current = SerialDisposable()
    @usableFromInline let queue = SerialQueue<(any Error)?>()

    @inlinable init<Sources: Sequence>(_ sink: Sink<Element>, _ sources: Sources)
    where Sources.Element == Observable<Element> {
        self.sink = sink
        var iterator = sources.makeIterator()
        next = { iterator.next() }
    }

    /// A source that fails inside `start` comes back here while the queue is busy: it loops, and never nests.
    @inlinable func subscribe(after error: (any Error)?) {
        queue.run(error) { [self] error in
            if sink.lifetime.isStopped { return }
            guard let source = next() else { return sink.on(error.map { .error($0) } ?? .completed) }
            let lifetime = Lifetime()
            current.disposable = lifetime
            source.start(
                Sink(lifetime) { [self] event in
                    lifetime.admit(event) { event in
                        guard case .error(let error) = event else { return sink.on(event) }
                        lifetime.dispose()
                        subscribe(after: error)
                    }
                })
        }
    }
}
