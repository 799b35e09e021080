extension ObservableType {
    /// Gathers all elements, and so keeps them in memory until the source completes.
    ///
    /// - Returns: One array, empty if there were none; fails as the source does. ReactiveX: To.
    @inlinable public func toArray() -> Single<[Element]> {
        let source = asObservable()
        return Single(
            Observable { sink in
                let all = Cell<[Element]>([])
                source.attach(
                    Sink(sink.lifetime) { event in
                        switch event {
                        case .next(let element): all.value.append(element)
                        case .error(let error): sink.on(.error(error))
                        case .completed:
                            sink.on(.next(all.value))
                            if !sink.lifetime.isStopped { sink.on(.completed) }
                        }
                    })
            })
    }
}
