extension ObservableType {
    /// Leaves out elements for a while.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - scheduler: Runs the timer.
    /// - Returns: The elements from then on. Ends as the source does. ReactiveX: Skip.
    @inlinable public func skip(_ duration: RxTimeInterval, scheduler: any SchedulerType) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let node = GateNode(sink)
            let lifetime = Lifetime(), timer = SerialDisposable()
            sink.lifetime.own(Disposables.create([lifetime, timer]))
            timer.start(after: duration, on: scheduler) { node.take(.open) }
            source.attach(lifetime) { node.take(.source($0)) }
        }
    }
}
