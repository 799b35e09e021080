extension ObservableType {
    /// Sends one element, by its place.
    ///
    /// - Parameter index: Its place, from 0.
    /// - Returns: The element, then the completion. Fails with ``RxError/argumentOutOfRange`` if the source completes
    ///   before. ReactiveX: ElementAt.
    @inlinable public func element(at index: Int) -> Observable<Element> {
        precondition(index >= 0, "the index must not be negative")
        let source = asObservable()
        return Observable { sink in
            let left = Cell(index)
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next:
                        left.value -= 1
                        if left.value >= 0 { return }
                        sink.on(event)
                        if !sink.lifetime.isStopped { sink.on(.completed) }
                    case .error: sink.on(event)
                    case .completed: sink.on(.error(RxError.argumentOutOfRange))
                    }
                })
        }
    }
}
