/// Passes what it accepts to whoever is subscribed at that moment.
///
/// Never ends. Any thread may accept, also from inside an observer: all observers see one order.
public final class PublishRelay<Element: Sendable>: ObservableType {
    @usableFromInline let subject = PublishSubject<Element>()

    /// Makes one without observers.
    @inlinable public init() {}

    /// Sends an element to all observers.
    @inlinable public func accept(_ event: Element) { subject.onNext(event) }

    /// The same as an ``Observable``.
    @inlinable public func asObservable() -> Observable<Element> { subject }

    /// Subscribes an observer; see ``ObservableType``.
    @inlinable public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Element { subject.subscribe(observer) }
}
