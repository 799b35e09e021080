extension ObservableType {
    /// Sends one element and completes, inside `subscribe`.
    ///
    /// ReactiveX: Just.
    @inlinable public static func just(_ element: Element) -> Observable<Element> { Observable(only: element) }

    /// Sends one element and completes.
    ///
    /// - Parameters:
    ///   - element: What is sent.
    ///   - scheduler: Runs a turn for the element and then one for the completion.
    /// - Returns: A cold sequence. ReactiveX: Just.
    @inlinable public static func just(
        _ element: Element, scheduler: any ImmediateSchedulerType
    ) -> Observable<Element> {
        Observable { SequenceNode($0, CollectionOfOne(element)).run(on: scheduler) }
    }
}
