/// Passes what it accepts to whoever is subscribed at that moment.
///
/// Never ends. Any thread may accept, also from inside an observer: all observers see one order.
public final class PublishRelay<Element: Sendable>: ObservableType {
    @usableFromInline let subject = PublishSubject<Element>()

    @inlinable public init() {}

    @inlinable public func accept(_ event: Element) { subject.onNext(event) }

    @inlinable public func asObservable() -> Observable<Element> { subject }

    @inlinable public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Element { subject.subscribe(observer) }
}
