/// Passes on what it accepts, and gives a new subscriber the latest elements first.
///
/// Never ends. Any thread may accept, also from inside an observer: all observers see one order.
public final class ReplayRelay<Element: Sendable>: ObservableType {
    @usableFromInline let subject: ReplaySubject<Element>

    @inlinable init(_ subject: ReplaySubject<Element>) { self.subject = subject }

    /// Makes a relay that keeps so many elements in memory.
    ///
    /// - Parameter bufferSize: How many of the latest elements a later subscriber gets.
    /// - Returns: The relay.
    @inlinable public static func create(bufferSize: Int) -> ReplayRelay<Element> {
        ReplayRelay(.create(bufferSize: bufferSize))
    }

    /// Makes a relay that keeps all elements in memory, without limit.
    @inlinable public static func createUnbound() -> ReplayRelay<Element> { ReplayRelay(.createUnbounded()) }

    /// Sends an element to all observers.
    @inlinable public func accept(_ event: Element) { subject.onNext(event) }

    /// The same as an ``Observable``.
    @inlinable public func asObservable() -> Observable<Element> { subject }

    /// Subscribes an observer; see ``ObservableType``.
    @inlinable public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Element { subject.subscribe(observer) }
}
