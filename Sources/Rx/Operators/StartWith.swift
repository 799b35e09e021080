extension ObservableType {
    /// Sends `elements` first, inside `subscribe`, and then what the source sends.
    ///
    /// ReactiveX: StartWith.
    @inlinable public func startWith(_ elements: Element...) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            for element in elements where !sink.lifetime.isStopped { sink.on(.next(element)) }
            if !sink.lifetime.isStopped { source.attach(sink) }
        }
    }
}
