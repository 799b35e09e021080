extension ObservableType {
    /// Turns each element into another, and leaves out what has become `nil`.
    ///
    /// - Parameter transform: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: What `transform` made of each element, in order, without the `nil`s. ReactiveX: Map.
    @inlinable public func compactMap<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Result?
    ) -> Observable<Result> {
        let source = asObservable()
        return Observable { sink in
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next(let element):
                        do {
                            if let result = try transform(element) { sink.on(.next(result)) }
                        } catch { sink.on(.error(error)) }
                    case .error(let error): sink.on(.error(error))
                    case .completed: sink.on(.completed)
                    }
                })
        }
    }
}
