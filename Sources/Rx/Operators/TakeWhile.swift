/// Whether the element that ends a sequence is sent.
@frozen public enum TakeBehavior: Sendable {
    /// It is.
    case inclusive
    /// It isn't.
    case exclusive
}

extension ObservableType {
    /// Sends elements as long as they satisfy `predicate`.
    ///
    /// - Parameters:
    ///   - predicate: Runs where the element arrives. What it throws ends the sequence.
    ///   - behavior: Whether the first element that doesn't satisfy it is sent too.
    /// - Returns: The elements before that one. Completes with it, or ends as the source does. ReactiveX: TakeWhile.
    @inlinable public func take(
        while predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            source.attach(
                Sink(sink.lifetime) { event in
                    guard case .next(let element) = event else { return sink.on(event) }
                    do {
                        if try predicate(element) { return sink.on(event) }
                    } catch { return sink.on(.error(error)) }
                    if behavior == .inclusive { sink.on(event) }
                    if !sink.lifetime.isStopped { sink.on(.completed) }
                })
        }
    }

    /// Sends elements until one satisfies `predicate`; see ``take(while:behavior:)``.
    @inlinable public func take(
        until predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
    ) -> Observable<Element> {
        take(while: { !(try predicate($0)) }, behavior: behavior)
    }
}
