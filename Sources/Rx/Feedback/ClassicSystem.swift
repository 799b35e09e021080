/// One feedback loop of a classic system: gets the states, answers with events.
public typealias Feedback<State: Sendable, Event: Sendable> =
    @Sendable (ObservableSchedulerContext<State>) -> Observable<Event>

/// The states of a system, with the scheduler that they are delivered on.
///
/// Whoever subscribes gets the present state first.
public struct ObservableSchedulerContext<Element: Sendable>: ObservableType {
    /// What is carried.
    public let source: Observable<Element>

    /// Where the feedback loop runs.
    public let scheduler: any ImmediateSchedulerType

    /// Pairs a sequence with a scheduler.
    public init(source: Observable<Element>, scheduler: any ImmediateSchedulerType) {
        self.source = source
        self.scheduler = scheduler
    }

    /// The same as an ``Observable``.
    public func asObservable() -> Observable<Element> { source }

    /// Subscribes an observer; see ``ObservableType``.
    public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Element { source.subscribe(observer) }
}

extension ObservableType where Element == any Sendable {
    /// Closes the loop between a state and what happens because of it.
    ///
    /// The form of RxFeedback: loops see the whole state. Fit for states that are small or change seldom, such as what a
    /// screen shows; a state that is changed in place many times a second wants the form with effects.
    ///
    /// - Parameters:
    ///   - initialState: Where each subscription starts.
    ///   - reduce: Makes the next state of the present one and an event. Runs on `scheduler`, one event after the other.
    ///   - scheduler: Must run one thing after the other.
    ///   - feedback: Each is called once a subscription and may answer from any thread, also at once: a state has been
    ///     everywhere before the next event is looked at.
    /// - Returns: A cold sequence of the states, the initial one first; each is sent on `scheduler`, to the loops before
    ///   the subscriber. It fails with the first loop that does, and completes once all loops have.
    public static func system<State: Sendable, Event: Sendable>(
        initialState: State, reduce: @escaping @Sendable (State, Event) -> State,
        scheduler: any ImmediateSchedulerType, feedback: [Feedback<State, Event>]
    ) -> Observable<State> {
        Observable<State> { sink in
            let node = ClassicNode(sink, initialState, reduce, loops: feedback.count)
            let handoff = Handoff<ClassicNode<State, Event>.Input>(to: scheduler, limit: 1_024, isHeld: true) {
                node.handle($0)
            }
            let lifetimes = feedback.map { _ in Lifetime() }
            sink.lifetime.own(Disposables.create(lifetimes + [handoff.turn]))
            handoff.send(.begin)
            let context = ObservableSchedulerContext(
                source: node.states.compactMap { $0 }, scheduler: scheduler)
            for (loop, lifetime) in Swift.zip(feedback, lifetimes) where !lifetime.isStopped {
                loop(context).attach(
                    Sink(lifetime) { event in lifetime.admit(event) { handoff.send(.event($0)) } })
            }
            if feedback.isEmpty { handoff.send(.event(.completed)) }
            handoff.release()
        }
    }

    /// Closes the loop between a state and what happens because of it; see
    /// ``system(initialState:reduce:scheduler:feedback:)-([Feedback<State,Event>])``.
    public static func system<State: Sendable, Event: Sendable>(
        initialState: State, reduce: @escaping @Sendable (State, Event) -> State,
        scheduler: any ImmediateSchedulerType, feedback: Feedback<State, Event>...
    ) -> Observable<State> {
        system(initialState: initialState, reduce: reduce, scheduler: scheduler, feedback: feedback)
    }
}

/// `@unchecked`: `state` and `running` are only touched on the scheduler.
private final class ClassicNode<State: Sendable, Event: Sendable>: @unchecked Sendable {
    enum Input: Sendable { case begin, event(Rx.Event<Event>) }

    let states = BehaviorSubject<State?>(value: nil)
    private let sink: Sink<State>
    private let reduce: @Sendable (State, Event) -> State
    private var state: State
    private var running: Int  // loops

    init(_ sink: Sink<State>, _ state: State, _ reduce: @escaping @Sendable (State, Event) -> State, loops: Int) {
        self.sink = sink
        self.reduce = reduce
        self.state = state
        running = loops
    }

    func handle(_ input: Input) {
        if sink.lifetime.isStopped { return }
        switch input {
        case .begin: send()
        case .event(.next(let event)):
            state = reduce(state, event)
            send()
        case .event(.error(let error)): sink.on(.error(error))
        case .event(.completed):
            running -= 1
            if running <= 0 { sink.on(.completed) }
        }
    }

    private func send() {
        states.onNext(state)
        if !sink.lifetime.isStopped { sink.on(.next(state)) }
    }
}
