import Locking

/// A feedback loop that does something while the state asks for it.
///
/// - Parameters:
///   - request: What the state asks for, `nil` for nothing.
///   - effects: Does it, and answers with events. Let go of and made anew when the request becomes another one; let go of
///     when the request becomes `nil`. Its failure is the system's, so an error that people shall see is an event.
/// - Returns: The loop; it never completes by itself.
public func react<State: Sendable, Request: Equatable & Sendable, Event: Sendable>(
    request: @escaping @Sendable (State) -> Request?,
    effects: @escaping @Sendable (Request) -> Observable<Event>
) -> Feedback<State, Event> {
    { context in
        context.map(request).distinctUntilChanged().flatMapLatest { $0.map(effects) ?? .empty() }
    }
}

/// A feedback loop that does something while the state asks for it, whatever the details.
///
/// For requests that can't be compared: from the first one after `nil` until the next `nil` the same effects go on.
///
/// - Parameters:
///   - request: What the state asks for, `nil` for nothing.
///   - effects: Does it, and answers with events.
/// - Returns: The loop; it never completes by itself.
public func react<State: Sendable, Request: Sendable, Event: Sendable>(
    request: @escaping @Sendable (State) -> Request?,
    effects: @escaping @Sendable (Request) -> Observable<Event>
) -> Feedback<State, Event> {
    { context in
        context.map(request).distinctUntilChanged { ($0 == nil) == ($1 == nil) }
            .flatMapLatest { $0.map(effects) ?? .empty() }
    }
}

/// A feedback loop that does several things at once, each while the state asks for it.
///
/// - Parameters:
///   - requests: What the state asks for.
///   - effects: Does one of them, and answers with events. Let go of when its request is no longer in the set; one that
///     completes earlier isn't made anew until its request has been away.
/// - Returns: The loop; it never completes by itself.
public func react<State: Sendable, Request: Hashable & Sendable, Event: Sendable>(
    requests: @escaping @Sendable (State) -> Set<Request>,
    effects: @escaping @Sendable (Request) -> Observable<Event>
) -> Feedback<State, Event> {
    { context in
        .create { observer in
            let running = RunningRequests(effects, observer)
            return Disposables.create(context.subscribe(onNext: { running.keep(requests($0)) }), running)
        }
    }
}

/// The effects that are under way, by their requests.
private final class RunningRequests<Request: Hashable & Sendable, Event: Sendable>: Disposable {
    private let effects: @Sendable (Request) -> Observable<Event>
    private let observer: AnyObserver<Event>
    private let running = Locked<[Request: SingleAssignmentDisposable]?>([:])  // nil once disposed

    init(_ effects: @escaping @Sendable (Request) -> Observable<Event>, _ observer: AnyObserver<Event>) {
        self.effects = effects
        self.observer = observer
    }

    /// Ends what isn't wanted any more, and starts what is new.
    func keep(_ wanted: Set<Request>) {
        let (stale, new) = running.withLock { running in
            let stale = running?.filter { !wanted.contains($0.key) } ?? [:]
            let new = wanted.filter { running?.keys.contains($0) == false }
            for request in stale.keys { running?[request] = nil }
            for request in new { running?[request] = SingleAssignmentDisposable() }
            return (stale, new.compactMap { request in running?[request].map { (request, $0) } })
        }
        for disposable in stale.values { disposable.dispose() }
        for (request, slot) in new {
            slot.setDisposable(
                effects(request).subscribe(
                    onNext: { [observer] in observer.onNext($0) }, onError: { [observer] in observer.onError($0) }))
        }
    }

    func dispose() {
        let last = running.withLock { running in
            defer { running = nil }
            return running
        }
        for disposable in (last ?? [:]).values { disposable.dispose() }
    }
}
