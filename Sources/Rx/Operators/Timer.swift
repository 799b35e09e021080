extension ObservableType where Element: FixedWidthInteger {
    /// Sends 0 after a while, then counts up in a steady beat if there is a period.
    ///
    /// - Parameters:
    ///   - dueTime: How long until 0.
    ///   - period: How long between two numbers; `nil`: it completes right after 0.
    ///   - scheduler: Runs the timer and delivers.
    /// - Returns: A cold sequence; with a period it only ends by disposal, and starts anew from the type's smallest number
    ///   after its largest. ReactiveX: Timer.
    @inlinable public static func timer(
        _ dueTime: RxTimeInterval, period: RxTimeInterval? = nil, scheduler: any SchedulerType
    ) -> Observable<Element> {
        Observable { sink in
            let isWanted = { @Sendable in !sink.lifetime.isStopped }
            guard let period else {
                return sink.lifetime.own(
                    scheduler.scheduleRelative((), dueTime: dueTime) {
                        if isWanted() { sink.on(.next(0)) }
                        if isWanted() { sink.on(.completed) }
                        return Disposables.create()
                    })
            }
            sink.lifetime.own(
                scheduler.schedulePeriodic(0 as Element, startAfter: dueTime, period: period) { number in
                    if isWanted() { sink.on(.next(number)) }
                    return number &+ 1
                })
        }
    }
}
