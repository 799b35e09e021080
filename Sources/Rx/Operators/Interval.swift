extension ObservableType where Element: FixedWidthInteger {
    /// Counts in a steady beat, from 0.
    ///
    /// - Parameters:
    ///   - period: How long until the first number, and between two.
    ///   - scheduler: Runs the timer and delivers.
    /// - Returns: A cold sequence that only ends by disposal. ReactiveX: Interval.
    @inlinable public static func interval(
        _ period: RxTimeInterval, scheduler: any SchedulerType
    ) -> Observable<Element> {
        timer(period, period: period, scheduler: scheduler)
    }
}
