extension ObservableType {
    /// A sequence with a resource that lives as long as the subscription.
    ///
    /// - Parameters:
    ///   - resourceFactory: Opens the resource inside `subscribe`. What it throws is the sequence's error.
    ///   - observableFactory: Makes the sequence. What it throws is the sequence's error, and the resource is closed.
    /// - Returns: A cold sequence; the resource is disposed of once, after the source. ReactiveX: Using.
    @inlinable public static func using<Resource: Disposable>(
        _ resourceFactory: @escaping @Sendable () throws -> Resource,
        observableFactory: @escaping @Sendable (Resource) throws -> Observable<Element>
    ) -> Observable<Element> {
        Observable { sink in
            let lifetime = Lifetime()
            do {
                let resource = try resourceFactory()
                sink.lifetime.own(Disposables.create([lifetime, resource]))
                let source = try observableFactory(resource)
                source.attach(Sink(lifetime) { event in lifetime.admit(event) { sink.on($0) } })
            } catch { sink.on(.error(error)) }
        }
    }
}
