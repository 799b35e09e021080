/// A state that people see: a later subscriber gets the present value first.
public typealias Driver<Element: Sendable> = SharedSequence<DriverSharingStrategy, Element>

extension ObservableConvertibleType {
    /// A driver that sends `element` in place of an error, and completes.
    ///
    /// - Parameters:
    ///   - element: What to show then.
    ///   - scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The driver.
    public func asDriver(
        onErrorJustReturn element: Element, on scheduler: any SchedulerType = MainScheduler.instance
    ) -> Driver<Element> {
        Driver(bringing: asObservable().catchAndReturn(element), to: scheduler)
    }

    /// A driver that goes on with another one in place of an error.
    ///
    /// - Parameters:
    ///   - driver: What to show then.
    ///   - scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The driver.
    public func asDriver(
        onErrorDriveWith driver: Driver<Element>, on scheduler: any SchedulerType = MainScheduler.instance
    ) -> Driver<Element> {
        asDriver(onErrorRecover: { _ in driver }, on: scheduler)
    }

    /// A driver that goes on, in place of an error, with what is made of it.
    ///
    /// - Parameters:
    ///   - recover: Makes what to show then.
    ///   - scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The driver.
    public func asDriver(
        onErrorRecover recover: @escaping @Sendable (any Error) -> Driver<Element>,
        on scheduler: any SchedulerType = MainScheduler.instance
    ) -> Driver<Element> {
        Driver(bringing: asObservable().catch { recover($0).source }, to: scheduler)
    }
}

extension InfallibleType {
    /// A driver of a sequence that doesn't fail.
    ///
    /// - Parameter scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The driver.
    public func asDriver(on scheduler: any SchedulerType = MainScheduler.instance) -> Driver<Element> {
        Driver(bringing: asObservable(), to: scheduler)
    }
}

extension BehaviorRelay {
    /// The relay's value as a driver: a relay doesn't fail.
    ///
    /// - Parameter scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The driver.
    public func asDriver(on scheduler: any SchedulerType = MainScheduler.instance) -> Driver<Element> {
        Driver(bringing: asObservable(), to: scheduler)
    }
}

extension SharedSequence where Strategy == DriverSharingStrategy {
    /// Shows the values through observers, such as a ``Binder``.
    ///
    /// - Returns: Ends the subscription.
    public func drive<Observer: ObserverType>(_ observers: Observer...) -> any Disposable
    where Observer.Element == Element {
        asObservable().subscribe { event in for observer in observers { observer.on(event) } }
    }

    /// Shows the values through observers that take none, too.
    ///
    /// - Returns: Ends the subscription.
    public func drive<Observer: ObserverType>(_ observers: Observer...) -> any Disposable
    where Observer.Element == Element? {
        asObservable().map(Optional.some).subscribe { event in for observer in observers { observer.on(event) } }
    }

    /// Hands the values to relays.
    ///
    /// - Returns: Ends the subscription.
    public func drive(_ relays: BehaviorRelay<Element>...) -> any Disposable {
        asObservable().subscribe(onNext: { element in for relay in relays { relay.accept(element) } })
    }

    /// Shows the values in a way of the caller's own.
    ///
    /// - Returns: What `binding` returned.
    public func drive<Result>(_ binding: (Observable<Element>) -> Result) -> Result { binding(asObservable()) }

    /// Shows the values through closures, which run on ``SharedSequence/scheduler``.
    ///
    /// - Returns: Ends the subscription.
    public func drive(
        onNext: (@Sendable (Element) -> Void)? = nil, onCompleted: (@Sendable () -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        asObservable().subscribe(onNext: onNext, onCompleted: onCompleted, onDisposed: onDisposed)
    }
}
