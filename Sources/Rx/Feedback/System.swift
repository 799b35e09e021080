extension ObservableType where Element == any Sendable {
    /// Closes the loop between a state and the effects of its changes.
    ///
    /// Effects are requests to the outside; the feedback loops carry them out and answer with events. The state itself
    /// never leaves, so that it is changed in place and not copied.
    ///
    /// - Parameters:
    ///   - initialState: Where each subscription starts.
    ///   - reduce: Changes the state for one event and returns what is to be done. Runs on `scheduler`, one event after
    ///     the other; the effects of an event are sent before the next event is looked at.
    ///   - scheduler: Must run one thing after the other. It is woken once for many events.
    ///   - feedback: Each is called once a subscription, gets every effect, and may answer from any thread. All are
    ///     subscribed to, in order, on the subscribing thread, before the first event is handled.
    /// - Returns: A cold sequence of the effects, each sent after the loops have had it. Subscribing starts the loops,
    ///   disposing stops them. It fails with the first loop that does, and completes once all loops have.
    @inlinable public static func system<State: Sendable, Event: Sendable, Effect: Sendable>(
        initialState: State, reduce: @escaping @Sendable (inout State, Event) -> [Effect],
        scheduler: any ImmediateSchedulerType,
        feedback: [@Sendable (Observable<Effect>) -> Observable<Event>]
    ) -> Observable<Effect> {
        Observable<Effect> { sink in
            let node = SystemNode(sink, initialState, reduce, loops: feedback.count)
            let handoff = Handoff<Rx.Event<Event>>(to: scheduler, limit: 1_024, isHeld: true) { node.handle($0) }
            let lifetimes = feedback.map { _ in Lifetime() }
            sink.lifetime.own(Disposables.create(lifetimes + [handoff.turn]))
            for (loop, lifetime) in Swift.zip(feedback, lifetimes) where !lifetime.isStopped {
                loop(node.effects).attach(
                    Sink(lifetime) { event in lifetime.admit(event) { handoff.send($0) } })
            }
            if feedback.isEmpty { handoff.send(.completed) }
            handoff.release()
        }
    }
}

/// `@unchecked`: `state` and `running` are only touched on the scheduler.
@usableFromInline final class SystemNode<State: Sendable, Event: Sendable, Effect: Sendable>: @unchecked Sendable {
    @usableFromInline let effects = PublishSubject<Effect>()
    @usableFromInline let sink: Sink<Effect>
    @usableFromInline let reduce: @Sendable (inout State, Event) -> [Effect]
    @exclusivity(unchecked) @usableFromInline var state: State
    @exclusivity(unchecked) @usableFromInline var running: Int  // loops

    @inlinable init(
        _ sink: Sink<Effect>, _ state: State, _ reduce: @escaping @Sendable (inout State, Event) -> [Effect],
        loops: Int
    ) {
        self.sink = sink
        self.reduce = reduce
        self.state = state
        running = loops
    }

    @inlinable func handle(_ event: Rx.Event<Event>) {
        if sink.lifetime.isStopped { return }
        switch event {
        case .next(let event): for effect in reduce(&state, event) { send(effect) }
        case .error(let error): sink.on(.error(error))
        case .completed:
            running -= 1
            if running <= 0 { sink.on(.completed) }
        }
    }

    @inlinable func send(_ effect: Effect) {
        effects.onNext(effect)
        if !sink.lifetime.isStopped { sink.on(.next(effect)) }
    }
}
