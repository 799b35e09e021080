extension ObservableType {
    /// Sends the latest element whenever another sequence says so.
    ///
    /// - Parameters:
    ///   - sampler: Each of its elements sends what has come since the last one; so does its completion, which ends the
    ///     sequence. Subscribed to after the source.
    ///   - defaultValue: Sent where nothing has come; nothing is, if it is `nil`.
    /// - Returns: Completes with the first element of `sampler` after the source's completion, or with `sampler`; fails
    ///   with the first that does. ReactiveX: Sample.
    @inlinable public func sample<Source: ObservableType>(
        _ sampler: Source, defaultValue: Element? = nil
    ) -> Observable<Element> {
        let source = asObservable(), beat = sampler.asObservable()
        return Observable { sink in
            let node = SampleNode(sink, defaultValue)
            let lifetime = Lifetime(), sampling = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, sampling]))
            source.attach(lifetime) { node.take(.source($0)) }
            if !sampling.isStopped { beat.attach(sampling) { node.take(.sampler($0.map { _ in })) } }
        }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class SampleNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), sampler(Event<Void>) }

    @usableFromInline let sink: Sink<Element>
    @usableFromInline let defaultValue: Element?
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var latest: Element?
    @exclusivity(unchecked) @usableFromInline var isSourceOver = false

    @inlinable init(_ sink: Sink<Element>, _ defaultValue: Element?) {
        self.sink = sink
        self.defaultValue = defaultValue
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .source(.next(let element)): latest = element
            case .source(.completed): isSourceOver = true
            case .source(.error(let error)), .sampler(.error(let error)): sink.on(.error(error))
            case .sampler(.next):
                send(latest ?? defaultValue)
                if isSourceOver, !sink.lifetime.isStopped { sink.on(.completed) }
            case .sampler(.completed):
                send(latest ?? defaultValue)
                if !sink.lifetime.isStopped { sink.on(.completed) }
            }
        }
    }

    @inlinable func send(_ element: Element?) {
        latest = nil
        if let element { sink.on(.next(element)) }
    }
}
