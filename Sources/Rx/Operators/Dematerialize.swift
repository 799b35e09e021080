extension ObservableType where Element: EventConvertible {
    /// Turns elements that are events back into events.
    ///
    /// - Returns: A sequence that ends at the first element that is an ending, or as the source does.
    ///   ReactiveX: Dematerialize.
    @inlinable public func dematerialize() -> Observable<Element.Element> {
        let source = asObservable()
        return Observable<Element.Element> { sink in
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next(let element): sink.on(element.event)
                    case .error(let error): sink.on(.error(error))
                    case .completed: sink.on(.completed)
                    }
                })
        }
    }
}
