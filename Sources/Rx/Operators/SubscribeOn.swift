extension ObservableType {
    /// Subscribes to the source, and disposes of the subscription, on a scheduler.
    ///
    /// - Parameter scheduler: Where; the source is let go of there also after its ending. The source delivers wherever it does; see ``observe(on:)``.
    /// - Returns: The source's events. ReactiveX: SubscribeOn.
    @inlinable public func subscribe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let lifetime = Lifetime(), turn = SingleAssignmentDisposable()
            sink.lifetime.own(
                Disposables.create([turn, ScheduledDisposable(scheduler: scheduler, disposable: lifetime)]))
            turn.setDisposable(
                scheduler.schedule(()) {
                    if lifetime.isStopped { return Disposables.create() }
                    source.start(
                        Sink(lifetime) { event in
                            if event.isStopEvent ? lifetime.stop() : !lifetime.isStopped { sink.on(event) }
                        })
                    return Disposables.create()
                })
        }
    }
}
