extension ObservableType {
    /// A sequence that is made anew for each subscriber.
    ///
    /// - Parameter observableFactory: Runs inside `subscribe`. What it throws is the sequence's error.
    /// - Returns: A cold sequence, which calls the factory once a subscription. ReactiveX: Defer.
    @inlinable public static func deferred(
        _ observableFactory: @escaping @Sendable () throws -> Observable<Element>
    ) -> Observable<Element> {
        Observable { sink in
            do { try observableFactory().attach(sink) } catch { sink.on(.error(error)) }
        }
    }
}
