extension ObservableType {
    /// Ends the sequence after a while.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - scheduler: Runs the timer and completes.
    /// - Returns: The elements until then; ends with the source if that ends first. ReactiveX: Take.
    @inlinable public func take(for duration: RxTimeInterval, scheduler: any SchedulerType) -> Observable<Element> {
        take(until: Observable<Int>.timer(duration, scheduler: scheduler))
    }
}
