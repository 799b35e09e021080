/// Says in a type that there is no element.
public enum CompletableTrait {}

/// A sequence without elements, which completes or fails.
///
/// ReactiveX: Completable.
public typealias Completable = PrimitiveSequence<CompletableTrait, Never>

/// How a ``Completable`` ends.
@frozen public enum CompletableEvent: Sendable {
    case error(any Error)
    case completed
}

extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
    /// What takes the outcome.
    public typealias CompletableObserver = @Sendable (CompletableEvent) -> Void

    /// A completable that `subscribe` produces anew for each subscriber.
    ///
    /// - Parameter subscribe: Starts the work and returns what stops it. The observer may be called from any thread; only
    ///   the first call counts.
    /// - Returns: A cold completable. ReactiveX: Create.
    public static func create(
        subscribe: @escaping @Sendable (@escaping CompletableObserver) -> any Disposable
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(
            .create { observer in
                subscribe { event in
                    switch event {
                    case .error(let error): observer.onError(error)
                    case .completed: observer.onCompleted()
                    }
                }
            })
    }

    /// Subscribes a closure to the ending.
    ///
    /// - Parameter observer: Runs at most once.
    /// - Returns: Ends the subscription.
    public func subscribe(_ observer: @escaping @Sendable (CompletableEvent) -> Void) -> any Disposable {
        subscribe(onCompleted: { observer(.completed) }, onError: { observer(.error($0)) })
    }

    /// Subscribes closures to the endings they name.
    ///
    /// - Parameters:
    ///   - onCompleted: Runs at most once.
    ///   - onError: Runs at most once; without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Runs once, after the ending or the disposal, when the source has been let go of.
    /// - Returns: Ends the subscription.
    public func subscribe(
        onCompleted: (@Sendable () -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        primitiveSequence.source.subscribe(onError: onError, onCompleted: onCompleted, onDisposed: onDisposed)
    }

    /// Subscribes closures that get an object, which isn't kept alive; see ``subscribe(onCompleted:onError:onDisposed:)``.
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onCompleted: (@Sendable (Object) -> Void)? = nil,
        onError: (@Sendable (Object, any Error) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
    ) -> any Disposable {
        primitiveSequence.source.subscribe(
            with: object, onError: onError, onCompleted: onCompleted, onDisposed: onDisposed)
    }
}

extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
    /// A completable that fails.
    ///
    /// ReactiveX: Throw.
    public static func error(_ error: any Error) -> Completable { Completable(.error(error)) }

    /// A completable that never ends.
    ///
    /// ReactiveX: Never.
    public static func never() -> Completable { Completable(.never()) }

    /// A completable that completes at once.
    ///
    /// ReactiveX: Empty.
    public static func empty() -> Completable { Completable(.empty()) }

    /// Runs side effects on the way; see ``ObservableType/do(onNext:afterNext:onError:afterError:onCompleted:afterCompleted:onSubscribe:onSubscribed:onDispose:)``.
    public func `do`(
        onError: (@Sendable (any Error) throws -> Void)? = nil,
        afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
        onDispose: (@Sendable () -> Void)? = nil
    ) -> Completable {
        Completable(
            primitiveSequence.source.do(
                onError: onError, afterError: afterError, onCompleted: onCompleted, afterCompleted: afterCompleted,
                onSubscribe: onSubscribe, onSubscribed: onSubscribed, onDispose: onDispose))
    }

    /// Goes on with `second` once this has completed.
    ///
    /// ReactiveX: Concat.
    public func concat(_ second: Completable) -> Completable { .concat([primitiveSequence, second]) }

    /// Runs one after the other; completes with the last, and fails with the first that does.
    ///
    /// ReactiveX: Concat.
    public static func concat<Sources: Sequence & Sendable>(_ sequence: Sources) -> Completable
    where Sources.Element == Completable {
        Completable(.concat(sequence.map { $0.source }))
    }

    /// Runs one after the other; see ``concat(_:)``.
    ///
    /// ReactiveX: Concat.
    public static func concat(_ sources: Completable...) -> Completable { concat(sources) }

    /// Runs all at once; completes with the last, and fails with the first that does.
    ///
    /// ReactiveX: Merge.
    public static func zip<Sources: Collection>(_ sources: Sources) -> Completable
    where Sources.Element == Completable {
        Completable(.merge(sources.map { $0.source }))
    }

    /// Runs all at once; see ``zip(_:)``.
    ///
    /// ReactiveX: Merge.
    public static func zip(_ sources: Completable...) -> Completable { zip(sources) }
}
