extension ObservableType {
    /// Sends only the ending.
    ///
    /// - Returns: A sequence without elements that ends as the source does. ReactiveX: IgnoreElements.
    @inlinable public func ignoreElements() -> Observable<Never> {
        let source = asObservable()
        return Observable<Never> { sink in
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next: break
                    case .error(let error): sink.on(.error(error))
                    case .completed: sink.on(.completed)
                    }
                })
        }
    }
}
