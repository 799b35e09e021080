extension ObservableType {
    /// Expects exactly one element.
    ///
    /// - Returns: The element as it comes, then the completion with the source's. Fails with ``RxError/noElements`` if
    ///   there is none, and with ``RxError/moreThanOneElement`` at the second. ReactiveX: Single.
    @inlinable public func single() -> Observable<Element> { single { _ in true } }

    /// Expects exactly one element that satisfies `predicate`, and leaves out the others.
    ///
    /// - Parameter predicate: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: The element; ends as ``single()`` does. ReactiveX: Single.
    @inlinable public func single(
        _ predicate: @escaping @Sendable (Element) throws -> Bool
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let hasCome = Cell(false)
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next(let element):
                        do { if !(try predicate(element)) { return } } catch { return sink.on(.error(error)) }
                        if hasCome.value { return sink.on(.error(RxError.moreThanOneElement)) }
                        hasCome.value = true
                        sink.on(event)
                    case .error: sink.on(event)
                    case .completed: sink.on(hasCome.value ? event : .error(RxError.noElements))
                    }
                })
        }
    }
}
