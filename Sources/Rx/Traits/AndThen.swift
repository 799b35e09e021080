extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
    /// Goes on with `second` once this has completed; its error is the result's.
    ///
    /// ReactiveX: Concat.
    public func andThen<Next: Sendable>(_ second: Single<Next>) -> Single<Next> {
        Single<Next>(primitiveSequence.andThen(second.source))
    }

    /// Goes on with `second` once this has completed; its error is the result's.
    ///
    /// ReactiveX: Concat.
    public func andThen<Next: Sendable>(_ second: Maybe<Next>) -> Maybe<Next> {
        Maybe<Next>(primitiveSequence.andThen(second.source))
    }

    /// Goes on with `second` once this has completed; its error is the result's.
    ///
    /// ReactiveX: Concat.
    public func andThen(_ second: Completable) -> Completable {
        Completable(primitiveSequence.andThen(second.source))
    }

    /// Goes on with `second` once this has completed and been let go of; its error is the result's.
    ///
    /// ReactiveX: Concat.
    public func andThen<Next: Sendable>(_ second: Observable<Next>) -> Observable<Next> {
        let first = primitiveSequence.source
        return Observable<Next> { sink in
            let lifetime = Lifetime(), current = SerialDisposable()
            current.disposable = lifetime
            sink.lifetime.own(current)
            first.attach(lifetime) { event in
                if case .error(let error) = event { return sink.on(.error(error)) }
                let next = Lifetime()
                current.disposable = next
                second.attach(next, sink.on)
            }
        }
    }
}
