extension ObservableType {
    /// Sends `element` where the source fails, and completes.
    ///
    /// - Returns: The source's elements, and that one if need be; never fails. ReactiveX: Catch.
    @inlinable public func catchAndReturn(_ element: Element) -> Observable<Element> {
        self.catch { _ in .just(element) }
    }
}
