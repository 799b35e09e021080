extension ObservableType {
    /// Folds the elements, and sends the result once the source completes.
    ///
    /// - Parameters:
    ///   - seed: Where each subscription starts; the result of an empty source.
    ///   - accumulator: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: The result, then the completion. ReactiveX: Reduce.
    @inlinable public func reduce<Result: Sendable>(
        _ seed: Result, accumulator: @escaping @Sendable (Result, Element) throws -> Result
    ) -> Observable<Result> {
        reduce(seed, accumulator: accumulator, mapResult: { $0 })
    }

    /// Folds the elements, and sends what `mapResult` makes of the outcome once the source completes.
    ///
    /// - Parameters:
    ///   - seed: Where each subscription starts.
    ///   - accumulator: Runs where the element arrives. What it throws ends the sequence.
    ///   - mapResult: Runs once, at the completion. What it throws takes its place.
    /// - Returns: The result, then the completion. ReactiveX: Reduce.
    @inlinable public func reduce<Total: Sendable, Result: Sendable>(
        _ seed: Total, accumulator: @escaping @Sendable (Total, Element) throws -> Total,
        mapResult: @escaping @Sendable (Total) throws -> Result
    ) -> Observable<Result> {
        let source = asObservable()
        return Observable { sink in
            let total = Cell(seed)
            source.attach(
                Sink(sink.lifetime) { event in
                    do {
                        switch event {
                        case .next(let element): total.value = try accumulator(total.value, element)
                        case .error(let error): sink.on(.error(error))
                        case .completed:
                            sink.on(.next(try mapResult(total.value)))
                            if !sink.lifetime.isStopped { sink.on(.completed) }
                        }
                    } catch { sink.on(.error(error)) }
                })
        }
    }
}
