extension ObservableType {
    /// Subscribes to the source, and disposes of the subscription, on a scheduler.
    ///
    /// - Parameter scheduler: Where. The source delivers wherever it does; see ``observe(on:)``.
    /// - Returns: The source's events. ReactiveX: SubscribeOn.
    @inlinable public func subscribe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let lifetime = Lifetime(), turn = SingleAssignmentDisposable()
            sink.lifetime.own(
                Disposables.create([turn, ScheduledDisposable(scheduler: scheduler, disposable: lifetime)]))
            turn.setDisposable(
                scheduler.schedule(()) {
                    if !lifetime.isStopped { source.start(Sink(lifetime) { lifetime.admit($0, sink.on) }) }
                    return Disposables.create()
                })
        }
    }
}
