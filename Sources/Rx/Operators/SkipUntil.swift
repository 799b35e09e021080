extension ObservableType {
    /// Leaves out elements until `other` sends one.
    ///
    /// - Parameter other: Subscribed to after the source. Its error ends the sequence; its completion doesn't.
    /// - Returns: The elements from then on. Ends as the source does. ReactiveX: SkipUntil.
    @inlinable public func skip<Source: ObservableType>(until other: Source) -> Observable<Element> {
        let source = asObservable(), trigger = other.asObservable()
        return Observable { sink in
            let node = GateNode(sink)
            let lifetime = Lifetime(), triggering = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, triggering]))
            source.attach(lifetime) { node.take(.source($0)) }
            if triggering.isStopped { return }
            trigger.attach(triggering) { event in
                switch event {
                case .next:
                    triggering.dispose()
                    node.take(.open)
                case .error(let error): node.take(.fail(error))
                case .completed: break
                }
            }
        }
    }
}

/// Lets elements through once it is open.
///
/// `@unchecked`: `isOpen` is only touched inside `queue`.
@usableFromInline final class GateNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), open, fail(any Error) }

    @usableFromInline let sink: Sink<Element>
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var isOpen = false

    @inlinable init(_ sink: Sink<Element>) { self.sink = sink }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .open: isOpen = true
            case .fail(let error): sink.on(.error(error))
            case .source(.next): if isOpen, case .source(let event) = input { sink.on(event) }
            case .source(let ending): sink.on(ending)
            }
        }
    }
}
