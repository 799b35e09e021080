extension ObservableType {
    /// Expects exactly one element.
    ///
    /// - Returns: The element once the source has completed. Fails with ``RxError/noElements`` if there is none, and with
    ///   ``RxError/moreThanOneElement`` at the second.
    public func asSingle() -> Single<Element> { Single(atMostOne(ifEmpty: .error(RxError.noElements))) }

    /// Expects at most one element.
    ///
    /// - Returns: The element once the source has completed. Fails with ``RxError/moreThanOneElement`` at the second.
    public func asMaybe() -> Maybe<Element> { Maybe(atMostOne(ifEmpty: .completed)) }

    /// Takes the first element.
    ///
    /// - Returns: It, and lets go of the source; `nil` if the source completes before. ReactiveX: First.
    public func first() -> Single<Element?> {
        Single<Element?>(map { $0 }.take(1).ifEmpty(default: nil))
    }

    private func atMostOne(ifEmpty ending: Event<Element>) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let only = Cell<Element?>(nil)
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next(let element):
                        if only.value != nil { return sink.on(.error(RxError.moreThanOneElement)) }
                        only.value = element
                    case .error: sink.on(event)
                    case .completed:
                        guard let element = only.value else { return sink.on(ending) }
                        sink.on(.next(element))
                        if !sink.lifetime.isStopped { sink.on(.completed) }
                    }
                })
        }
    }
}

extension ObservableType where Element == Never {
    /// The same as a ``Completable``.
    public func asCompletable() -> Completable { Completable(asObservable()) }
}
