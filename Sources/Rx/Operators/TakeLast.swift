extension ObservableType {
    /// Keeps the last `count` elements, and sends them once the source completes.
    ///
    /// - Parameter count: How many, and so how many are kept in memory.
    /// - Returns: They, in order, then the completion. An error is passed on at once, without them. ReactiveX: TakeLast.
    @inlinable public func takeLast(_ count: Int) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let last = Cell(ReplayBuffer<Element>(limit: count))
            source.attach(
                Sink(sink.lifetime) { event in
                    if case .next(let element) = event { return last.value.append(element) }
                    if case .completed = event {
                        last.value.forEach { if !sink.lifetime.isStopped { sink.on(.next($0)) } }
                    }
                    if !sink.lifetime.isStopped { sink.on(event) }
                })
        }
    }
}
