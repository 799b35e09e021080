extension ObservableType {
    /// Numbers the elements, from 0.
    ///
    /// - Returns: Each element with its number. Ends as the source does. ReactiveX: Map.
    @inlinable public func enumerated() -> Observable<(index: Int, element: Element)> {
        let source = asObservable()
        return Observable<(index: Int, element: Element)> { sink in
            let count = Cell(0)
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next(let element):
                        let index = count.value
                        count.value += 1
                        sink.on(.next((index, element)))
                    case .error(let error): sink.on(.error(error))
                    case .completed: sink.on(.completed)
                    }
                })
        }
    }
}
