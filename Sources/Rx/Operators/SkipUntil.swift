extension ObservableType {
    /// Leaves out elements until `other` sends one.
    ///
    /// - Parameter other: Subscribed to after the source. Its error ends the sequence; its completion doesn't.
    /// - Returns: The elements from then on. Ends as the source does; but if that completes before, it lets go of both and
    ///   sends nothing, not even the completion. ReactiveX: SkipUntil.
    @inlinable public func skip<Source: ObservableType>(until other: Source) -> Observable<Element> {
        let source = asObservable(), trigger = other.asObservable()
        return Observable { sink in
            let lifetime = Lifetime(), triggering = Lifetime()
            let node = GateNode(sink, opener: triggering)
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
    @usableFromInline let opener: Lifetime?  // without one, a completion goes through a closed gate
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var isOpen = false

    @inlinable init(_ sink: Sink<Element>, opener: Lifetime? = nil) {
        self.sink = sink
        self.opener = opener
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .open: isOpen = true
            case .fail(let error): sink.on(.error(error))
            case .source(.error(let error)): sink.on(.error(error))
            case .source(.next(let element)): if isOpen { sink.on(.next(element)) }
            case .source(.completed):
                if !isOpen, let opener { return opener.dispose() }
                sink.on(.completed)
            }
        }
    }
}
