/// A sequence whose type says that it doesn't fail.
public protocol InfallibleType: ObservableConvertibleType {}

/// A sequence that doesn't fail: it goes on or completes.
@frozen public struct Infallible<Element: Sendable>: InfallibleType {
    @usableFromInline let source: Observable<Element>

    /// Takes a sequence that keeps the promise; see ``ObservableConvertibleType/asInfallible(onErrorJustReturn:)`` for one
    /// that may not.
    @inlinable init(_ source: Observable<Element>) { self.source = source }

    /// The same as an ``Observable``.
    @inlinable public func asObservable() -> Observable<Element> { source }
}

/// What an ``Infallible`` sends.
@frozen public enum InfallibleEvent<Element: Sendable>: Sendable, EventConvertible {
    case next(Element)
    case completed

    /// The same as an event of any sequence.
    public var event: Event<Element> {
        switch self {
        case .next(let element): .next(element)
        case .completed: .completed
        }
    }
}

extension Infallible {
    /// What takes the outcome.
    public typealias InfallibleObserver = @Sendable (InfallibleEvent<Element>) -> Void

    /// A sequence that `subscribe` produces anew for each subscriber; see ``ObservableType/create(_:)``.
    public static func create(
        subscribe: @escaping @Sendable (@escaping InfallibleObserver) -> any Disposable
    ) -> Infallible<Element> {
        Infallible(.create { observer in subscribe { observer.on($0.event) } })
    }
}

extension InfallibleType {
    /// Subscribes a closure to all events.
    public func subscribe(_ on: @escaping @Sendable (InfallibleEvent<Element>) -> Void) -> any Disposable {
        subscribe(onNext: { on(.next($0)) }, onCompleted: { on(.completed) })
    }

    /// Subscribes closures to the events they name; see ``ObservableType/subscribe(onNext:onError:onCompleted:onDisposed:)``.
    public func subscribe(
        onNext: (@Sendable (Element) -> Void)? = nil, onCompleted: (@Sendable () -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        asObservable().subscribe(onNext: onNext, onCompleted: onCompleted, onDisposed: onDisposed)
    }

    /// Subscribes closures that get an object, which isn't kept alive; see ``subscribe(onNext:onCompleted:onDisposed:)``.
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onNext: (@Sendable (Object, Element) -> Void)? = nil,
        onCompleted: (@Sendable (Object) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
    ) -> any Disposable {
        asObservable().subscribe(with: object, onNext: onNext, onCompleted: onCompleted, onDisposed: onDisposed)
    }
}

extension ObservableConvertibleType {
    /// Sends `element` in place of an error, and completes.
    public func asInfallible(onErrorJustReturn element: Element) -> Infallible<Element> {
        Infallible(asObservable().catchAndReturn(element))
    }

    /// Goes on with `infallible` in place of an error.
    public func asInfallible(onErrorFallbackTo infallible: Infallible<Element>) -> Infallible<Element> {
        Infallible(asObservable().catch { _ in infallible.source })
    }

    /// Goes on in place of an error with what is made of it.
    public func asInfallible(
        onErrorRecover: @escaping @Sendable (any Error) -> Infallible<Element>
    ) -> Infallible<Element> {
        Infallible(asObservable().catch { onErrorRecover($0).source })
    }
}

extension PublishRelay {
    /// The same: a relay doesn't fail.
    public func asInfallible() -> Infallible<Element> { Infallible(asObservable()) }
}

extension BehaviorRelay {
    /// The same: a relay doesn't fail.
    public func asInfallible() -> Infallible<Element> { Infallible(asObservable()) }
}

extension ReplayRelay {
    /// The same: a relay doesn't fail.
    public func asInfallible() -> Infallible<Element> { Infallible(asObservable()) }
}
