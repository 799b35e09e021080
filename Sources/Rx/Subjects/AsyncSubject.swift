import Synchronization

/// Sends the last element it was sent, once it is completed.
///
/// A subscriber, however late, gets that element and the completion, or the error. Any thread may send, at any time, also
/// from inside an observer. A subscription doesn't keep the subject; with the subject go its observers. ReactiveX:
/// AsyncSubject.
///
/// `@unchecked`: `node` is constant.
public final class AsyncSubject<Element: Sendable>: Observable<Element>, SubjectType, ObserverType,
    @unchecked Sendable
{
    @usableFromInline let node: AsyncNode<Element>

    /// Makes one without observers.
    @inlinable public init() {
        let node = AsyncNode<Element>()
        self.node = node
        super.init { node.subject.attach($0) }
    }

    @inlinable deinit { node.subject.take(.abandon) }

    /// Whether anybody is subscribed.
    public var hasObservers: Bool { node.subject.observers.load(ordering: .acquiring) > 0 }

    /// Takes an event.
    @inlinable public func on(_ event: Event<Element>) { node.take(event) }

    /// The same: a subject is an observer.
    @inlinable public func asObserver() -> AsyncSubject<Element> { self }
}

/// Keeps the last element apart from the subject that sends it.
///
/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class AsyncNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let subject = ReplayNode<Element>(limit: 1)
    @usableFromInline let queue = SerialQueue<Event<Element>>()
    @exclusivity(unchecked) @usableFromInline var last: Element?
    @exclusivity(unchecked) @usableFromInline var isOver = false

    @inlinable init() {}

    @inlinable func take(_ event: Event<Element>) {
        queue.run(event) { event in
            if isOver { return }
            isOver = event.isStopEvent
            switch event {
            case .next(let element): last = element
            case .error: subject.take(.event(event))
            case .completed:
                if let last { subject.take(.event(.next(last))) }
                subject.take(.event(event))
            }
            if isOver { last = nil }
        }
    }
}
