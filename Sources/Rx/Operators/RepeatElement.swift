extension ObservableType {
    /// Sends an element again and again.
    ///
    /// - Parameters:
    ///   - element: What is sent.
    ///   - scheduler: Runs one turn for each time.
    /// - Returns: A cold sequence that only ends by disposal. ReactiveX: Repeat.
    @inlinable public static func repeatElement(
        _ element: Element, scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance
    ) -> Observable<Element> {
        Observable { SequenceNode($0) { element }.run(on: scheduler) }
    }
}
