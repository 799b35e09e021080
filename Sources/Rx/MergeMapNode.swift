extension ObservableType {
    /// What `concatMap` and `merge(maxConcurrent:)` have in common.
    @inlinable func mergeMap<Source: ObservableConvertibleType>(
        maxConcurrent: Int, _ selector: @escaping @Sendable (Element) throws -> Source
    ) -> Observable<Source.Element> {
        precondition(maxConcurrent > 0, "at least one sequence must be subscribed to")
        let source = asObservable()
        return Observable { sink in
            let node = MergeMapNode(sink, maxConcurrent)
            sink.lifetime.own(node.lifetimes)
            source.attach(node.lifetimes.make()) { event in
                switch event {
                case .next(let element):
                    do { node.take(.inner(try selector(element).asObservable())) } catch {
                        node.output.on(.error(error))
                    }
                case .error(let error): node.output.on(.error(error))
                case .completed: node.take(.sourceOver)
                }
            }
        }
    }
}

/// Elements go through `output` and not `queue`, which is busy while an inner sequence loops inside `start`.
///
/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class MergeMapNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case inner(Observable<Element>), innerOver(Lifetime), sourceOver }

    @usableFromInline let output: MergeNode<Element>
    @usableFromInline let lifetimes = LifetimeGroup()
    @usableFromInline let queue = SerialQueue<Input>()
    @usableFromInline let limit: Int
    @exclusivity(unchecked) @usableFromInline var waiting = Fifo<Observable<Element>>()
    @exclusivity(unchecked) @usableFromInline var running = 0  // inner sequences
    @exclusivity(unchecked) @usableFromInline var isSourceOver = false

    @inlinable init(_ sink: Sink<Element>, _ limit: Int) {
        output = MergeNode(sink, sources: 1)
        self.limit = limit
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if output.sink.lifetime.isStopped { return }
            switch input {
            case .inner(let inner): if running < limit { start(inner) } else { waiting.append(inner) }
            case .innerOver(let lifetime):
                lifetimes.remove(lifetime)
                running -= 1
                startWaiting()
            case .sourceOver: isSourceOver = true
            }
            if isSourceOver, running == 0 { output.on(.completed) }
        }
    }

    @inlinable func startWaiting() {
        while running < limit, let inner = waiting.popFirst() { start(inner) }
    }

    /// An inner sequence that completes inside `start` leaves word in the queue: it loops, and never nests.
    @inlinable func start(_ inner: Observable<Element>) {
        if let only = inner.only { return output.on(.next(only)) }
        running += 1
        let lifetime = lifetimes.make()
        inner.start(
            Sink(lifetime) { [self] event in
                lifetime.admit(event) { event in
                    guard case .completed = event else { return output.on(event) }
                    lifetime.dispose()
                    take(.innerOver(lifetime))
                }
            })
    }
}
