/// A sequence whose type says how many elements it has: ``Single``, ``Maybe`` or ``Completable``.
@frozen public struct PrimitiveSequence<Trait, Element: Sendable>: PrimitiveSequenceType {
    @usableFromInline let source: Observable<Element>

    /// Takes a sequence that keeps the promise; see ``ObservableType/asSingle()`` for one that may not.
    @inlinable init(_ source: Observable<Element>) { self.source = source }

    /// The same.
    @inlinable public var primitiveSequence: PrimitiveSequence<Trait, Element> { self }

    /// The same as an ``Observable``.
    @inlinable public func asObservable() -> Observable<Element> { source }
}

/// What can be seen as a ``PrimitiveSequence``.
public protocol PrimitiveSequenceType<Trait, Element>: ObservableConvertibleType {
    associatedtype Trait
    associatedtype Element
    var primitiveSequence: PrimitiveSequence<Trait, Element> { get }
}

extension PrimitiveSequence {
    /// A sequence that is made anew for each subscriber; see ``ObservableType/deferred(_:)``.
    public static func deferred(
        _ observableFactory: @escaping @Sendable () throws -> PrimitiveSequence<Trait, Element>
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(.deferred { try observableFactory().asObservable() })
    }

    /// Sends everything a while later; see ``ObservableType/delay(_:scheduler:)``.
    public func delay(_ dueTime: RxTimeInterval, scheduler: any SchedulerType) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.delay(dueTime, scheduler: scheduler))
    }

    /// Subscribes a while later; see ``ObservableType/delaySubscription(_:scheduler:)``.
    public func delaySubscription(
        _ dueTime: RxTimeInterval, scheduler: any SchedulerType
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.delaySubscription(dueTime, scheduler: scheduler))
    }

    /// Delivers on a scheduler; see ``ObservableType/observe(on:)``.
    public func observe(on scheduler: any ImmediateSchedulerType) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.observe(on: scheduler))
    }

    /// Subscribes and disposes on a scheduler; see ``ObservableType/subscribe(on:)``.
    public func subscribe(on scheduler: any ImmediateSchedulerType) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.subscribe(on: scheduler))
    }

    /// Goes on with another sequence where this one fails; see ``ObservableType/catch(_:)``.
    public func `catch`(
        _ handler: @escaping @Sendable (any Error) throws -> PrimitiveSequence<Trait, Element>
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.catch { try handler($0).asObservable() })
    }

    /// Subscribes again whenever it fails; see ``ObservableType/retry()``.
    public func retry() -> PrimitiveSequence<Trait, Element> { PrimitiveSequence(source.retry()) }

    /// Subscribes again when it fails, so many times in all; see ``ObservableType/retry(_:)``.
    public func retry(_ maxAttemptCount: Int) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.retry(maxAttemptCount))
    }

    /// Subscribes again when a sequence made of the errors says so; see ``ObservableType/retry(when:)``.
    public func retry<Failure: Error, Trigger: ObservableType>(
        when notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.retry(when: notificationHandler))
    }

    /// Subscribes again when a sequence made of the errors says so; see ``ObservableType/retry(when:)``.
    public func retry<Trigger: ObservableType>(
        when notificationHandler: @escaping @Sendable (Observable<any Error>) -> Trigger
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.retry(when: notificationHandler))
    }

    /// Prints what happens; see ``ObservableType/debug(_:trimOutput:file:line:function:)``.
    public func debug(
        _ identifier: String? = nil, trimOutput: Bool = false, file: String = #file, line: UInt = #line,
        function: String = #function
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(
            source.debug(identifier, trimOutput: trimOutput, file: file, line: line, function: function))
    }

    /// A sequence with a resource that lives as long as the subscription; see
    /// ``ObservableType/using(_:observableFactory:)``.
    public static func using<Resource: Disposable>(
        _ resourceFactory: @escaping @Sendable () throws -> Resource,
        primitiveSequenceFactory: @escaping @Sendable (Resource) throws -> PrimitiveSequence<Trait, Element>
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(
            .using(resourceFactory) { try primitiveSequenceFactory($0).asObservable() })
    }

    /// Fails when nothing comes for too long; see ``ObservableType/timeout(_:scheduler:)``.
    public func timeout(
        _ dueTime: RxTimeInterval, scheduler: any SchedulerType
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.timeout(dueTime, scheduler: scheduler))
    }

    /// Goes on with another sequence when nothing comes for too long; see
    /// ``ObservableType/timeout(_:other:scheduler:)``.
    public func timeout(
        _ dueTime: RxTimeInterval, other: PrimitiveSequence<Trait, Element>, scheduler: any SchedulerType
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(source.timeout(dueTime, other: other.source, scheduler: scheduler))
    }
}

extension PrimitiveSequenceType where Element: FixedWidthInteger {
    /// Sends 0 after a while, and completes; see ``ObservableType/timer(_:period:scheduler:)``.
    public static func timer(
        _ dueTime: RxTimeInterval, scheduler: any SchedulerType
    ) -> PrimitiveSequence<Trait, Element> {
        PrimitiveSequence(Observable<Element>.timer(dueTime, scheduler: scheduler))
    }
}
