public import Locking

/// Passes on what it is sent, and gives a new subscriber the latest element first.
///
/// Any thread may send, at any time, also from inside an observer: all observers see one order. A subscription doesn't
/// keep the subject; with the subject go its observers. Who subscribes after the ending gets only the ending.
///
/// `@unchecked`: `node` is constant.
public final class BehaviorSubject<Element: Sendable>: Observable<Element>, SubjectType, ObserverType, Cancelable,
    @unchecked Sendable
{
    @usableFromInline let node: BehaviorNode<Element>

    /// Makes one with a first value.
    @inlinable public init(value: Element) {
        let node = BehaviorNode(value)
        self.node = node
        super.init { node.attach($0) }
    }

    @inlinable deinit { node.take(.abandon) }

    /// Whether anybody is subscribed.
    public var hasObservers: Bool { node.hasObservers }

    /// Whether it has been disposed of.
    public var isDisposed: Bool { node.latest.withLock { $0.isDisposed } }

    /// What was sent last; observers may still be on their way there.
    ///
    /// Throws the error that ended the sequence, and ``RxError/disposed(object:)`` once disposed.
    @inlinable public func value() throws -> Element {
        let latest = node.latest.withLock { $0 }
        if let error = latest.isDisposed ? node.disposed.error : latest.ending?.error { throw error }
        return latest.value
    }

    /// Takes an event.
    @inlinable public func on(_ event: Event<Element>) { node.on(event) }

    /// The same: a subject is an observer.
    @inlinable public func asObserver() -> BehaviorSubject<Element> { self }

    /// Lets go of all observers without an event; who subscribes later gets ``RxError/disposed(object:)``.
    public func dispose() { node.dispose() }
}

/// `@unchecked`: `audience` is only touched inside `queue`.
@usableFromInline final class BehaviorNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable {
        case event(Event<Element>), attach(Sink<Element>, Event<Element>), detach(ObjectIdentifier), abandon
    }

    @frozen @usableFromInline struct Latest: Sendable {
        @usableFromInline var value: Element
        @usableFromInline var ending: Event<Element>?
        @usableFromInline var isDisposed = false
        @usableFromInline var observers = 0

        @inlinable init(_ value: Element) { self.value = value }

        /// - Returns: What must be let go of outside the lock, `nil` if the event comes after the ending.
        @inlinable mutating func take(_ event: Event<Element>) -> Element?? {
            if ending != nil { return nil }
            guard case .next(let new) = event else {
                ending = event
                return .some(nil)
            }
            return exchange(&value, with: new)
        }
    }

    @usableFromInline let queue = SerialQueue<Input>()
    @usableFromInline let latest: Locked<Latest>
    @exclusivity(unchecked) @usableFromInline var audience = Audience<Element>()

    @inlinable init(_ value: Element) { latest = Locked(Latest(value)) }

    var hasObservers: Bool { latest.withLock { $0.observers > 0 } }

    /// Claims the queue inside the lock, so that values go out in the order in which `latest` took them.
    @inlinable func on(_ event: Event<Element>) {
        let (stale, isIdle) = latest.withLock { latest in
            let stale = latest.take(event)
            return (stale, stale != nil && queue.claim(or: .event(event)))
        }
        if isIdle { finish(.event(event)) }
        withExtendedLifetime(stale) {}  // let go of only here, without the lock
    }

    @inlinable func attach(_ sink: Sink<Element>) {
        let id = ObjectIdentifier(sink.lifetime)
        sink.lifetime.own { [self] in take(.detach(id)) }
        let (input, isIdle) = latest.withLock { latest in
            let input = Input.attach(sink, latest.isDisposed ? disposed : latest.ending ?? .next(latest.value))
            return (input, queue.claim(or: input))
        }
        if isIdle { finish(input) }
    }

    @inlinable func take(_ input: Input) {
        if queue.claim(or: input) { finish(input) }
    }

    @inlinable func finish(_ input: Input) {
        handle(input)
        queue.drain { handle($0) }
    }

    @inlinable func handle(_ input: Input) {
        switch input {
        case .event(let event):
            if event.isStopEvent { return end(event) }
            audience.send(event)
        case .attach(let sink, let present):
            if !present.isStopEvent {
                audience.add(sink)
                count()
            }
            sink.on(present)
        case .detach(let lifetime):
            audience.remove(lifetime)
            count()
        case .abandon:
            audience = Audience()
            count()
        }
    }

    @inlinable func end(_ event: Event<Element>) {
        let last = exchange(&audience, with: Audience())
        count()
        last.send(event)
    }

    @inlinable func count() { latest.withLock { $0.observers = audience.sinks.count } }

    /// What late subscribers get once it is disposed of.
    @usableFromInline var disposed: Event<Element> { .error(RxError.disposed(object: self)) }

    @usableFromInline func dispose() {
        let stale = latest.withLock { latest in
            latest.isDisposed = true
            return exchange(&latest.ending, with: .completed)  // `disposed` would keep this node
        }
        take(.abandon)
        withExtendedLifetime(stale) {}
    }
}
