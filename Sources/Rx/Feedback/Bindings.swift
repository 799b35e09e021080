/// What ties a system to a view: what shows the state, and what the user does.
public final class Bindings<Event: Sendable>: Disposable {
    fileprivate let events: [Observable<Event>]
    private let subscriptions: any Disposable

    /// Ties a system to a view.
    ///
    /// - Parameters:
    ///   - subscriptions: Of the view to the state; they end with the system.
    ///   - events: What the user does. They end with the system, never the system with them; an error is the system's.
    public init(subscriptions: [any Disposable], events: [Observable<Event>]) {
        self.subscriptions = Disposables.create(subscriptions)
        self.events = events
    }

    /// Ends all of them.
    public func dispose() { subscriptions.dispose() }
}

/// A feedback loop through a view.
///
/// - Parameter bindings: Makes the bindings for each subscription to the system.
/// - Returns: The loop; it never completes by itself.
public func bind<State: Sendable, Event: Sendable>(
    _ bindings: @escaping @Sendable (ObservableSchedulerContext<State>) -> Bindings<Event>
) -> Feedback<State, Event> {
    { context in
        .using(
            { bindings(context) },
            observableFactory: { bindings in Observable.merge(bindings.events + [.never()]) })
    }
}

/// A feedback loop through a view that others own.
///
/// - Parameters:
///   - owner: Held weakly; when it has gone, the loop is silent.
///   - bindings: Makes the bindings for each subscription to the system.
/// - Returns: The loop; it never completes by itself.
public func bind<State: Sendable, Event: Sendable, Owner: AnyObject & Sendable>(
    _ owner: Owner, _ bindings: @escaping @Sendable (Owner, ObservableSchedulerContext<State>) -> Bindings<Event>
) -> Feedback<State, Event> {
    bind { [weak owner] context in
        owner.map { bindings($0, context) } ?? Bindings(subscriptions: [], events: [])
    }
}
