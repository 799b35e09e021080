extension ObservableType {
    /// Gives each element together with an object that is not kept alive.
    ///
    /// - Parameters:
    ///   - obj: Held weakly.
    ///   - resultSelector: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: What it made of both. Completes at the first element after the object has gone, or ends as the source
    ///   does.
    @inlinable public func withUnretained<Object: AnyObject & Sendable, Result: Sendable>(
        _ obj: Object, resultSelector: @escaping @Sendable (Object, Element) throws -> Result
    ) -> Observable<Result> {
        let source = asObservable()
        let reference = WeakReference(obj)
        return Observable { sink in
            source.attach(
                Sink(sink.lifetime) { event in
                    switch event {
                    case .next(let element):
                        guard let object = reference.object else { return sink.on(.completed) }
                        do { sink.on(.next(try resultSelector(object, element))) } catch { sink.on(.error(error)) }
                    case .error(let error): sink.on(.error(error))
                    case .completed: sink.on(.completed)
                    }
                })
        }
    }

    /// Gives each element together with an object that is not kept alive; see ``withUnretained(_:resultSelector:)``.
    @inlinable public func withUnretained<Object: AnyObject & Sendable>(
        _ obj: Object
    ) -> Observable<(Object, Element)> {
        withUnretained(obj) { ($0, $1) }
    }
}
