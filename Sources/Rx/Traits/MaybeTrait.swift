/// Says in a type that there is one element, none, or an error.
public enum MaybeTrait {}

/// A sequence of one element, of none, or an error.
///
/// ReactiveX: Maybe.
public typealias Maybe<Element: Sendable> = PrimitiveSequence<MaybeTrait, Element>

/// How a ``Maybe`` ends.
@frozen public enum MaybeEvent<Element: Sendable>: Sendable {
    case success(Element)
    case error(any Error)
    case completed
}

extension PrimitiveSequenceType where Trait == MaybeTrait {
    /// What takes the outcome.
    public typealias MaybeObserver = @Sendable (MaybeEvent<Element>) -> Void

    /// A maybe that `subscribe` produces anew for each subscriber.
    ///
    /// - Parameter subscribe: Starts the work and returns what stops it. The observer may be called from any thread; only
    ///   the first call counts.
    /// - Returns: A cold maybe. ReactiveX: Create.
    public static func create(
        subscribe: @escaping @Sendable (@escaping MaybeObserver) -> any Disposable
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(
            .create { observer in
                subscribe { event in
                    switch event {
                    case .success(let element):
                        observer.onNext(element)
                        observer.onCompleted()
                    case .error(let error): observer.onError(error)
                    case .completed: observer.onCompleted()
                    }
                }
            })
    }

    /// Subscribes a closure to the outcome.
    ///
    /// - Parameter observer: Runs at most once.
    /// - Returns: Ends the subscription.
    public func subscribe(_ observer: @escaping @Sendable (MaybeEvent<Element>) -> Void) -> any Disposable {
        subscribe(
            onSuccess: { observer(.success($0)) }, onError: { observer(.error($0)) },
            onCompleted: { observer(.completed) })
    }

    /// Subscribes closures to the outcomes they name.
    ///
    /// - Parameters:
    ///   - onSuccess: Runs at most once; no other one but `onDisposed` follows.
    ///   - onError: Runs at most once; without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onCompleted: Runs at most once, if there is no element.
    ///   - onDisposed: Runs once, after the outcome or the disposal, when the source has been let go of.
    /// - Returns: Ends the subscription.
    public func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
        onCompleted: (@Sendable () -> Void)? = nil, onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        let isOver = Cell(false)
        return primitiveSequence.source.subscribe(
            onNext: { element in
                isOver.value = true
                onSuccess?(element)
            },
            onError: onError, onCompleted: { if !isOver.value { onCompleted?() } }, onDisposed: onDisposed)
    }

    /// Subscribes closures that get an object, which isn't kept alive; see
    /// ``subscribe(onSuccess:onError:onCompleted:onDisposed:)``.
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onSuccess: (@Sendable (Object, Element) -> Void)? = nil,
        onError: (@Sendable (Object, any Error) -> Void)? = nil, onCompleted: (@Sendable (Object) -> Void)? = nil,
        onDisposed: (@Sendable (Object) -> Void)? = nil
    ) -> any Disposable {
        let isOver = Cell(false)
        return primitiveSequence.source.subscribe(
            with: object,
            onNext: { object, element in
                isOver.value = true
                onSuccess?(object, element)
            },
            onError: onError, onCompleted: { if !isOver.value { onCompleted?($0) } }, onDisposed: onDisposed)
    }
}

extension PrimitiveSequenceType where Trait == MaybeTrait {
    /// A maybe that sends `element`.
    ///
    /// ReactiveX: Just.
    public static func just(_ element: Element) -> Maybe<Element> { Maybe(.just(element)) }

    /// A maybe that sends `element` on a scheduler.
    ///
    /// ReactiveX: Just.
    public static func just(_ element: Element, scheduler: any ImmediateSchedulerType) -> Maybe<Element> {
        Maybe(.just(element, scheduler: scheduler))
    }

    /// A maybe that fails.
    ///
    /// ReactiveX: Throw.
    public static func error(_ error: any Error) -> Maybe<Element> { Maybe(.error(error)) }

    /// A maybe that never ends.
    ///
    /// ReactiveX: Never.
    public static func never() -> Maybe<Element> { Maybe(.never()) }

    /// A maybe without an element.
    ///
    /// ReactiveX: Empty.
    public static func empty() -> Maybe<Element> { Maybe(.empty()) }

    /// Runs side effects on the way; see ``ObservableType/do(onNext:afterNext:onError:afterError:onCompleted:afterCompleted:onSubscribe:onSubscribed:onDispose:)``.
    public func `do`(
        onNext: (@Sendable (Element) throws -> Void)? = nil, afterNext: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil,
        afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
        onDispose: (@Sendable () -> Void)? = nil
    ) -> Maybe<Element> {
        Maybe(
            primitiveSequence.source.do(
                onNext: onNext, afterNext: afterNext, onError: onError, afterError: afterError,
                onCompleted: onCompleted, afterCompleted: afterCompleted, onSubscribe: onSubscribe,
                onSubscribed: onSubscribed, onDispose: onDispose))
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
    ) -> Maybe<Result> {
        Maybe<Result>(primitiveSequence.source.map(transform))
    }

    /// Turns the element into another, unless that is `nil`; what `transform` throws is the error.
    ///
    /// ReactiveX: Map.
    public func compactMap<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) throws -> Result?
    ) -> Maybe<Result> {
        Maybe<Result>(primitiveSequence.source.compactMap(transform))
    }

    /// Goes on with a maybe made of the element; what `selector` throws is the error.
    ///
    /// ReactiveX: FlatMap.
    public func flatMap<Result: Sendable>(
        _ selector: @escaping @Sendable (Element) throws -> Maybe<Result>
    ) -> Maybe<Result> {
        Maybe<Result>(primitiveSequence.source.flatMap(selector))
    }

    /// Sends `default` if there is no element.
    ///
    /// ReactiveX: DefaultIfEmpty.
    public func ifEmpty(default: Element) -> Single<Element> {
        Single(primitiveSequence.source.ifEmpty(default: `default`))
    }

    /// Goes on with `other` if there is no element.
    ///
    /// ReactiveX: SwitchIfEmpty.
    public func ifEmpty(switchTo other: Maybe<Element>) -> Maybe<Element> {
        Maybe(primitiveSequence.source.ifEmpty(switchTo: other.source))
    }

    /// Goes on with `other` if there is no element.
    ///
    /// ReactiveX: SwitchIfEmpty.
    public func ifEmpty(switchTo other: Single<Element>) -> Single<Element> {
        Single(primitiveSequence.source.ifEmpty(switchTo: other.source))
    }

    /// Sends `element` in place of an error.
    ///
    /// ReactiveX: Catch.
    public func catchAndReturn(_ element: Element) -> Maybe<Element> {
        Maybe(primitiveSequence.source.catchAndReturn(element))
    }

    /// Only how it ends.
    public func asCompletable() -> Completable { Completable(primitiveSequence.source.ignoreElements()) }
}
