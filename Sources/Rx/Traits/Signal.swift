/// Events that people see: a later subscriber gets only what comes from then on.
public typealias Signal<Element: Sendable> = SharedSequence<SignalSharingStrategy, Element>

extension ObservableConvertibleType {
    /// A signal that sends `element` in place of an error, and completes.
    ///
    /// - Parameters:
    ///   - element: What to tell then.
    ///   - scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The signal.
    public func asSignal(
        onErrorJustReturn element: Element, on scheduler: any SchedulerType = MainScheduler.instance
    ) -> Signal<Element> {
        Signal(bringing: asObservable().catchAndReturn(element), to: scheduler)
    }

    /// A signal that goes on with another one in place of an error.
    ///
    /// - Parameters:
    ///   - signal: What to tell then.
    ///   - scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The signal.
    public func asSignal(
        onErrorSignalWith signal: Signal<Element>, on scheduler: any SchedulerType = MainScheduler.instance
    ) -> Signal<Element> {
        asSignal(onErrorRecover: { _ in signal }, on: scheduler)
    }

    /// A signal that goes on, in place of an error, with what is made of it.
    ///
    /// - Parameters:
    ///   - recover: Makes what to tell then.
    ///   - scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The signal.
    public func asSignal(
        onErrorRecover recover: @escaping @Sendable (any Error) -> Signal<Element>,
        on scheduler: any SchedulerType = MainScheduler.instance
    ) -> Signal<Element> {
        Signal(bringing: asObservable().catch { recover($0).source }, to: scheduler)
    }
}

extension InfallibleType {
    /// A signal of a sequence that doesn't fail.
    ///
    /// - Parameter scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The signal.
    public func asSignal(on scheduler: any SchedulerType = MainScheduler.instance) -> Signal<Element> {
        Signal(bringing: asObservable(), to: scheduler)
    }
}

extension PublishRelay {
    /// What the relay accepts as a signal: a relay doesn't fail.
    ///
    /// - Parameter scheduler: Where to deliver; must run one thing after the other.
    /// - Returns: The signal.
    public func asSignal(on scheduler: any SchedulerType = MainScheduler.instance) -> Signal<Element> {
        Signal(bringing: asObservable(), to: scheduler)
    }
}

extension SharedSequence where Strategy == SignalSharingStrategy {
    /// Tells observers, such as a ``Binder``.
    ///
    /// - Returns: Ends the subscription.
    public func emit<Observer: ObserverType>(to observers: Observer...) -> any Disposable
    where Observer.Element == Element {
        asObservable().subscribe { event in for observer in observers { observer.on(event) } }
    }

    /// Tells observers that take none, too.
    ///
    /// - Returns: Ends the subscription.
    public func emit<Observer: ObserverType>(to observers: Observer...) -> any Disposable
    where Observer.Element == Element? {
        asObservable().map(Optional.some).subscribe { event in for observer in observers { observer.on(event) } }
    }

    /// Hands the events to relays.
    ///
    /// - Returns: Ends the subscription.
    public func emit(to relays: PublishRelay<Element>...) -> any Disposable {
        asObservable().subscribe(onNext: { element in for relay in relays { relay.accept(element) } })
    }

    /// Hands the events to relays.
    ///
    /// - Returns: Ends the subscription.
    public func emit(to relays: BehaviorRelay<Element>...) -> any Disposable {
        asObservable().subscribe(onNext: { element in for relay in relays { relay.accept(element) } })
    }

    /// Tells closures, which run on ``SharedSequence/scheduler``.
    ///
    /// - Returns: Ends the subscription.
    public func emit(
        onNext: (@Sendable (Element) -> Void)? = nil, onCompleted: (@Sendable () -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        asObservable().subscribe(onNext: onNext, onCompleted: onCompleted, onDisposed: onDisposed)
    }
}
