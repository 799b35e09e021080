extension ObservableType {
    /// Sends the elements given, and completes.
    ///
    /// - Parameters:
    ///   - elements: What is sent, in order.
    ///   - scheduler: Runs one turn for each element and one for the completion. The default one runs inside
    ///     `subscribe`, and sources on one thread take turns.
    /// - Returns: A cold sequence. ReactiveX: From.
    @inlinable public static func of(
        _ elements: Element..., scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance
    ) -> Observable<Element> { from(elements, scheduler: scheduler) }
}
