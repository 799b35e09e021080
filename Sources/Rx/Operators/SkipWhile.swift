extension ObservableType {
    /// Leaves out elements until one doesn't satisfy `predicate`.
    ///
    /// - Parameter predicate: Runs where the element arrives, until it has once returned `false`. What it throws ends the
    ///   sequence.
    /// - Returns: That element and all after it. Ends as the source does. ReactiveX: SkipWhile.
    @inlinable public func skip(
        while predicate: @escaping @Sendable (Element) throws -> Bool
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let isSkipping = Cell(true)
            source.attach(
                Sink(sink.lifetime) { event in
                    if isSkipping.value, case .next(let element) = event {
                        do { if try predicate(element) { return } } catch { return sink.on(.error(error)) }
                        isSkipping.value = false
                    }
                    sink.on(event)
                })
        }
    }
}
