public import Synchronization

extension ObservableType {
    /// Makes a sequence of each element, and sends the elements of all as they come.
    ///
    /// - Parameter selector: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: A sequence that completes once the source and all inner sequences have, and fails with the first that
    ///   does. ReactiveX: FlatMap.
    @inlinable public func flatMap<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) throws -> Source
    ) -> Observable<Source.Element> {
        let source = asObservable()
        return Observable { sink in
            let node = FlatMapNode(sink)
            sink.lifetime.own(node.lifetimes)
            let lifetime = node.lifetimes.make()
            source.attach(
                Sink(lifetime) { event in
                    lifetime.admit(event) { event in
                        switch event {
                        case .next(let element):
                            do { node.start(try selector(element).asObservable()) } catch { node.on(.error(error)) }
                        case .error(let error): node.on(.error(error))
                        case .completed: node.on(.completed)
                        }
                    }
                })
        }
    }
}

@usableFromInline final class FlatMapNode<Element: Sendable>: Sendable {
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let lifetimes = LifetimeGroup()
    @usableFromInline let queue = SerialQueue<Event<Element>>()
    @usableFromInline let running = Atomic<Int>(1)  // the source, and each inner sequence that hasn't completed

    @inlinable init(_ sink: Sink<Element>) { self.sink = sink }

    @inlinable func start(_ inner: Observable<Element>) {
        if let only = inner.only { return on(.next(only)) }
        running.add(1, ordering: .relaxed)
        let lifetime = lifetimes.make()
        inner.start(
            Sink(lifetime) { [self] event in
                lifetime.admit(event) { event in
                    if event.isStopEvent { lifetimes.remove(lifetime) }
                    on(event)
                }
            })
    }

    @inlinable func on(_ event: Event<Element>) {
        queue.run(event) { event in
            if sink.lifetime.isStopped { return }
            if case .completed = event, running.subtract(1, ordering: .acquiringAndReleasing).newValue > 0 { return }
            sink.on(event)
        }
    }
}
