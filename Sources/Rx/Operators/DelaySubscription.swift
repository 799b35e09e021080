extension ObservableType {
    /// Subscribes to the source a while later.
    ///
    /// - Parameters:
    ///   - dueTime: How long.
    ///   - scheduler: Runs the timer and subscribes.
    /// - Returns: The source's events. ReactiveX: Delay, in its DelaySubscription form.
    @inlinable public func delaySubscription(
        _ dueTime: RxTimeInterval, scheduler: any SchedulerType
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let lifetime = Lifetime(), timer = SerialDisposable()
            sink.lifetime.own(Disposables.create([timer, lifetime]))
            timer.start(after: dueTime, on: scheduler) {
                if !lifetime.isStopped { source.attach(lifetime, sink.on) }
            }
        }
    }
}
