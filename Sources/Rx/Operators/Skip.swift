extension ObservableType {
    /// Leaves out the first `count` elements.
    ///
    /// - Parameter count: How many; none if it isn't positive.
    /// - Returns: The elements after them. Ends as the source does. ReactiveX: Skip.
    @inlinable public func skip(_ count: Int) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let left = Cell(count)
            source.attach(
                Sink(sink.lifetime) { event in
                    if case .next = event, left.value > 0 {
                        left.value -= 1
                        return
                    }
                    sink.on(event)
                })
        }
    }
}
