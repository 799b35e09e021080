/// Says in a type that there is one element or an error.
public enum SingleTrait {}

/// A sequence of one element, or an error.
///
/// ReactiveX: Single.
public typealias Single<Element: Sendable> = PrimitiveSequence<SingleTrait, Element>

/// How a ``Single`` ends.
public typealias SingleEvent<Element> = Result<Element, any Error>

extension PrimitiveSequenceType where Trait == SingleTrait {
    /// What takes the outcome.
    public typealias SingleObserver = @Sendable (SingleEvent<Element>) -> Void

    /// A single that `subscribe` produces anew for each subscriber.
    ///
    /// - Parameter subscribe: Starts the work and returns what stops it. The observer may be called from any thread; only
    ///   the first call counts.
    /// - Returns: A cold single. ReactiveX: Create.
    public static func create(
        subscribe: @escaping @Sendable (@escaping SingleObserver) -> any Disposable
    ) -> Single<Element> {
        Single(
            .create { observer in
                subscribe { event in
                    switch event {
                    case .success(let element):
                        observer.onNext(element)
                        observer.onCompleted()
                    case .failure(let error): observer.onError(error)
                    }
                }
            })
    }

    /// Subscribes a closure to the result.
    ///
    /// - Parameter observer: Runs at most once.
    /// - Returns: Ends the subscription.
    public func subscribe(_ observer: @escaping @Sendable (SingleEvent<Element>) -> Void) -> any Disposable {
        primitiveSequence.source.subscribe { event in
            switch event {
            case .next(let element): observer(.success(element))
            case .error(let error): observer(.failure(error))
            case .completed: break
            }
        }
    }

    /// Subscribes closures to the result.
    ///
    /// - Parameters:
    ///   - onSuccess: Runs at most once.
    ///   - onFailure: Runs at most once; without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Runs once, after the result or the disposal, when the source has been let go of.
    /// - Returns: Ends the subscription.
    public func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil, onFailure: (@Sendable (any Error) -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        primitiveSequence.source.subscribe(onNext: onSuccess, onError: onFailure, onDisposed: onDisposed)
    }

    /// Subscribes closures that get an object, which isn't kept alive; see ``subscribe(onSuccess:onFailure:onDisposed:)``.
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onSuccess: (@Sendable (Object, Element) -> Void)? = nil,
        onFailure: (@Sendable (Object, any Error) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
    ) -> any Disposable {
        primitiveSequence.source.subscribe(
            with: object, onNext: onSuccess, onError: onFailure, onDisposed: onDisposed)
    }
}

extension PrimitiveSequenceType where Trait == SingleTrait {
    /// A single that sends `element`.
    ///
    /// ReactiveX: Just.
    public static func just(_ element: Element) -> Single<Element> { Single(.just(element)) }

    /// A single that sends `element` on a scheduler.
    ///
    /// ReactiveX: Just.
    public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Single<Element> {
        Single(.just(element, scheduler: scheduler))
    }

    /// A single that fails.
    ///
    /// ReactiveX: Throw.
    public static func error(_ error: any Error) -> Single<Element> { Single(.error(error)) }

    /// A single that never ends.
    ///
    /// ReactiveX: Never.
    public static func never() -> Single<Element> { Single(.never()) }

    /// Runs side effects on the way; see ``ObservableType/do(onNext:afterNext:onError:afterError:onCompleted:afterCompleted:onSubscribe:onSubscribed:onDispose:)``.
    public func `do`(
        onSuccess: (@Sendable (Element) throws -> Void)? = nil,
        afterSuccess: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil,
        afterError: (@Sendable (any Error) throws -> Void)? = nil, onSubscribe: (@Sendable () -> Void)? = nil,
        onSubscribed: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
    ) -> Single<Element> {
        Single(
            primitiveSequence.source.do(
                onNext: onSuccess, afterNext: afterSuccess, onError: onError, afterError: afterError,
                onSubscribe: onSubscribe, onSubscribed: onSubscribed, onDispose: onDispose))
    }

    /// Keeps the element if it satisfies `predicate`.
    ///
    /// ReactiveX: Filter.
    public func filter(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Maybe<Element> {
        Maybe(primitiveSequence.source.filter(predicate))
    }

    /// Turns the element into another; what `transform` throws is the error.
    ///
    /// ReactiveX: Map.
    public func map<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Result
    ) -> Single<Result> {
        Single<Result>(primitiveSequence.source.map(transform))
    }

    /// Turns the element into another, unless that is `nil`; what `transform` throws is the error.
    ///
    /// ReactiveX: Map.
    public func compactMap<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Result?
    ) -> Maybe<Result> {
        Maybe<Result>(primitiveSequence.source.compactMap(transform))
    }

    /// Goes on with a single made of the element; what `selector` throws is the error.
    ///
    /// ReactiveX: FlatMap.
    public func flatMap<Result: Sendable>(
        _ selector: @escaping @Sendable (Element) throws -> Single<Result>
    ) -> Single<Result> {
        Single<Result>(primitiveSequence.source.flatMap(selector))
    }

    /// Goes on with a maybe made of the element; what `selector` throws is the error.
    ///
    /// ReactiveX: FlatMap.
    public func flatMapMaybe<Result: Sendable>(
        _ selector: @escaping @Sendable (Element) throws -> Maybe<Result>
    ) -> Maybe<Result> {
        Maybe<Result>(primitiveSequence.source.flatMap(selector))
    }

    /// Goes on with a completable made of the element; what `selector` throws is the error.
    ///
    /// ReactiveX: FlatMap.
    public func flatMapCompletable(
        _ selector: @escaping @Sendable (Element) throws -> Completable
    ) -> Completable {
        Completable(primitiveSequence.source.flatMap(selector))
    }

    /// Sends `element` in place of an error.
    ///
    /// ReactiveX: Catch.
    public func catchAndReturn(_ element: Element) -> Single<Element> {
        Single(primitiveSequence.source.catchAndReturn(element))
    }

    /// The same as a ``Maybe``.
    public func asMaybe() -> Maybe<Element> { Maybe(primitiveSequence.source) }

    /// Only whether it succeeds.
    public func asCompletable() -> Completable { Completable(primitiveSequence.source.ignoreElements()) }
}
