extension ObservableType {
    /// Delivers the events on a scheduler, in order and one at a time.
    ///
    /// - Parameter scheduler: A serial dispatch scheduler is woken once for many events, any other once for each.
    /// - Returns: A sequence with the same events; the source's ending waits its turn too. What is still waiting when
    ///   the subscription is disposed of is dropped. ReactiveX: ObserveOn.
    @inlinable public func observe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
        let source = asObservable()
        let limit = scheduler is SerialDispatchQueueScheduler ? 1_024 : 1  // events a turn
        return Observable { sink in
            let handoff = Handoff<Event<Element>>(to: scheduler, limit: limit) { event in
                if !sink.lifetime.isStopped { sink.on(event) }
            }
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, handoff.turn]))
            source.attach(Sink(lifetime) { event in lifetime.admit(event) { handoff.send($0) } })
        }
    }
}
