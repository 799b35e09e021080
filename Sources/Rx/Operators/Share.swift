/// How long the subject behind a shared sequence lives.
@frozen public enum SubjectLifetimeScope: Sendable {
    /// As long as a connection: when everybody has left or the source has ended, the next subscriber starts afresh.
    case whileConnected
    /// For good: a later subscriber gets what was kept, and the ending.
    case forever
}

extension ObservableType {
    /// Subscribes to the source once for all its subscribers.
    ///
    /// - Parameters:
    ///   - replay: How many of the latest elements a later subscriber gets first, and so how many are kept in memory.
    ///   - scope: What happens to them when everybody has left or the source has ended.
    /// - Returns: A sequence that subscribes to the source with its first subscriber, and lets go of it with its last.
    ///   ReactiveX: Replay, with RefCount.
    @inlinable public func share(
        replay: Int = 0, scope: SubjectLifetimeScope = .whileConnected
    ) -> Observable<Element> {
        let node = ShareNode(asObservable(), replay, scope)
        return Observable { node.attach($0) }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class ShareNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable {
        case event(Event<Element>, Lifetime), attach(Sink<Element>), detach(ObjectIdentifier)
    }

    @usableFromInline let source: Observable<Element>
    @usableFromInline let scope: SubjectLifetimeScope
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var audience = Audience<Element>()
    @exclusivity(unchecked) @usableFromInline var replay: ReplayBuffer<Element>
    @exclusivity(unchecked) @usableFromInline var connection: Lifetime?
    @exclusivity(unchecked) @usableFromInline var ending: Event<Element>?  // only `.forever` keeps it

    @inlinable init(_ source: Observable<Element>, _ replay: Int, _ scope: SubjectLifetimeScope) {
        self.source = source
        self.scope = scope
        self.replay = ReplayBuffer(limit: replay)
    }

    @inlinable func attach(_ sink: Sink<Element>) {
        let id = ObjectIdentifier(sink.lifetime)
        sink.lifetime.own { [self] in take(.detach(id)) }
        take(.attach(sink))
    }

    /// Connects when the queue is idle again: a source that loops inside `start` would only fill it.
    @inlinable func take(_ input: Input) {
        var new: Lifetime?
        queue.run(input) { input in
            switch input {
            case .event(let event, let origin): send(event, from: origin)
            case .attach(let sink): if let lifetime = join(sink) { new = lifetime }
            case .detach(let id): leave(id)
            }
        }
        if let new, !new.isStopped { connect(new) }
    }

    @inlinable func connect(_ lifetime: Lifetime) {
        source.start(Sink(lifetime) { [self] event in lifetime.admit(event) { take(.event($0, lifetime)) } })
    }

    @inlinable func send(_ event: Event<Element>, from origin: Lifetime) {
        guard origin === connection else { return }
        if case .next(let element) = event {
            replay.append(element)
            return audience.send(event)
        }
        connection = nil
        if scope == .forever { ending = event } else { replay.removeAll() }
        exchange(&audience, with: Audience()).send(event)
    }

    /// - Returns: The connection to make, if this is the first subscriber.
    @inlinable func join(_ sink: Sink<Element>) -> Lifetime? {
        replay.forEach { if !sink.lifetime.isStopped { sink.on(.next($0)) } }
        if let ending {
            if !sink.lifetime.isStopped { sink.on(ending) }
            return nil
        }
        audience.add(sink)
        if connection != nil || audience.isEmpty { return nil }
        connection = Lifetime()
        return connection
    }

    @inlinable func leave(_ id: ObjectIdentifier) {
        audience.remove(id)
        guard audience.isEmpty, let last = exchange(&connection, with: nil) else { return }
        if scope == .whileConnected { replay.removeAll() }
        last.dispose()
    }
}
