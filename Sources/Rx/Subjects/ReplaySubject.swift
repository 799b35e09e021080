public import Synchronization

/// Passes on what it is sent, and gives a new subscriber the latest elements first, and the ending.
///
/// Any thread may send, at any time, also from inside an observer: all observers see one order. A subscription doesn't
/// keep the subject; with the subject go its observers. ReactiveX: ReplaySubject.
///
/// `@unchecked`: `node` is constant.
public final class ReplaySubject<Element: Sendable>: Observable<Element>, SubjectType, ObserverType, Cancelable,
    @unchecked Sendable
{
    @usableFromInline let node: ReplayNode<Element>

    @inlinable init(limit: Int) {
        let node = ReplayNode<Element>(limit: limit)
        self.node = node
        super.init { node.attach($0) }
    }

    @inlinable deinit { node.take(.abandon) }

    /// Makes a subject that keeps so many elements in memory.
    ///
    /// - Parameter bufferSize: How many of the latest elements a later subscriber gets.
    /// - Returns: The subject.
    @inlinable public static func create(bufferSize: Int) -> ReplaySubject<Element> { ReplaySubject(limit: bufferSize) }

    /// Makes a subject that keeps all elements in memory, without limit.
    @inlinable public static func createUnbounded() -> ReplaySubject<Element> { ReplaySubject(limit: .max) }

    /// Whether anybody is subscribed.
    public var hasObservers: Bool { node.observers.load(ordering: .acquiring) > 0 }

    /// Whether it has been disposed of.
    public var isDisposed: Bool { node.isDisposed.load(ordering: .acquiring) }

    /// Takes an event.
    @inlinable public func on(_ event: Event<Element>) { node.take(.event(event)) }

    /// The same: a subject is an observer.
    @inlinable public func asObserver() -> ReplaySubject<Element> { self }

    /// Lets go of all observers and elements without an event; who subscribes later gets ``RxError/disposed(object:)``.
    public func dispose() {
        node.isDisposed.store(true, ordering: .releasing)
        node.take(.abandon)
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class ReplayNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable {
        case event(Event<Element>), attach(Sink<Element>), detach(ObjectIdentifier), abandon
    }

    @usableFromInline let queue = SerialQueue<Input>()
    @usableFromInline let observers = Atomic<Int>(0)  // as many as `audience` has
    @usableFromInline let isDisposed = Atomic<Bool>(false)
    @exclusivity(unchecked) @usableFromInline var audience = Audience<Element>()
    @exclusivity(unchecked) @usableFromInline var replay: ReplayBuffer<Element>
    @exclusivity(unchecked) @usableFromInline var ending: Event<Element>?

    @inlinable init(limit: Int) { replay = ReplayBuffer(limit: limit) }

    @inlinable func attach(_ sink: Sink<Element>) {
        let id = ObjectIdentifier(sink.lifetime)
        sink.lifetime.own { [self] in take(.detach(id)) }
        take(.attach(sink))
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            switch input {
            case .event(let event): if ending == nil { send(event) }
            case .attach(let sink): join(sink)
            case .detach(let lifetime): audience.remove(lifetime)
            case .abandon: clear()
            }
            observers.store(audience.sinks.count, ordering: .releasing)
        }
    }

    @inlinable func send(_ event: Event<Element>) {
        if case .next(let element) = event {
            replay.append(element)
            return audience.send(event)
        }
        ending = event
        observers.store(0, ordering: .releasing)
        exchange(&audience, with: Audience()).send(event)
    }

    @inlinable func join(_ sink: Sink<Element>) {
        replay.forEach { if !sink.lifetime.isStopped { sink.on(.next($0)) } }
        if let ending {
            if !sink.lifetime.isStopped { sink.on(isDisposed.load(ordering: .acquiring) ? disposed : ending) }
        } else {
            audience.add(sink)
        }
    }

    /// What late subscribers get once it is disposed of.
    @usableFromInline var disposed: Event<Element> { .error(RxError.disposed(object: self)) }

    @usableFromInline func clear() {
        audience = Audience()
        if !isDisposed.load(ordering: .acquiring) { return }
        replay.removeAll()
        ending = .completed  // `disposed` would keep this node
    }
}
