public import Synchronization

extension ObservableType {
    /// Makes a sequence of each element, and sends the elements of the latest one.
    ///
    /// - Parameter selector: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: A sequence that completes once the source and the latest inner sequence have, and fails with the first
    ///   that does. An inner sequence is let go of before the next one is subscribed to. ReactiveX: Switch.
    @inlinable public func flatMapLatest<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) throws -> Source
    ) -> Observable<Source.Element> {
        let source = asObservable()
        return Observable { sink in
            let node = LatestNode(sink)
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, node.latest]))
            source.attach(
                Sink(lifetime) { event in
                    lifetime.admit(event) { event in
                        switch event {
                        case .next(let element):
                            do { node.start(try selector(element).asObservable()) } catch {
                                node.take(.source(.error(error)))
                            }
                        case .error(let error): node.take(.source(.error(error)))
                        case .completed: node.take(.source(.completed))
                        }
                    }
                })
        }
    }
}

/// `@unchecked`: `isSourceOver` and `isLatestOver` are only touched inside `queue`.
@usableFromInline final class LatestNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable {
        case source(Event<Element>), began, inner(Event<Element>, Int)
    }

    @usableFromInline let sink: Sink<Element>
    @usableFromInline let latest = SerialDisposable()
    @usableFromInline let queue = SerialQueue<Input>()
    @usableFromInline let number = Atomic<Int>(0)  // of the latest inner sequence
    @exclusivity(unchecked) @usableFromInline var isSourceOver = false
    @exclusivity(unchecked) @usableFromInline var isLatestOver = true

    @inlinable init(_ sink: Sink<Element>) { self.sink = sink }

    @inlinable func start(_ inner: Observable<Element>) {
        let number = number.add(1, ordering: .acquiringAndReleasing).newValue
        let lifetime = Lifetime()
        latest.disposable = lifetime
        take(.began)
        inner.start(Sink(lifetime) { [self] event in lifetime.admit(event) { take(.inner($0, number)) } })
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .source(.completed):
                isSourceOver = true
                if isLatestOver { sink.on(.completed) }
            case .source(let event): sink.on(event)
            case .began: isLatestOver = false
            case .inner(let event, let origin):
                guard origin == number.load(ordering: .acquiring) else { return }
                if case .completed = event {
                    isLatestOver = true
                    if !isSourceOver { return }
                }
                sink.on(event)
            }
        }
    }
}
