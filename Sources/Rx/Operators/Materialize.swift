extension ObservableType {
    /// Sends every event as an element, the ending too.
    ///
    /// - Returns: The source's events, then the completion; never fails. ReactiveX: Materialize.
    @inlinable public func materialize() -> Observable<Event<Element>> {
        let source = asObservable()
        return Observable<Event<Element>> { sink in
            source.attach(
                Sink(sink.lifetime) { event in
                    sink.on(.next(event))
                    if event.isStopEvent, !sink.lifetime.isStopped { sink.on(.completed) }
                })
        }
    }
}
