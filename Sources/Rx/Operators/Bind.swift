extension ObservableType {
    /// Sends everything to observers, such as a ``Binder``.
    ///
    /// - Returns: Ends the subscription.
    public func bind<Observer: ObserverType>(to observers: Observer...) -> any Disposable
    where Observer.Element == Element {
        subscribe { event in for observer in observers { observer.on(event) } }
    }

    /// Sends the elements to relays.
    ///
    /// The ending doesn't reach them: relays don't end.
    ///
    /// - Returns: Ends the subscription.
    public func bind(to relays: PublishRelay<Element>...) -> any Disposable {
        subscribe(onNext: { element in for relay in relays { relay.accept(element) } })
    }

    /// Sends the elements to relays.
    ///
    /// The ending doesn't reach them: relays don't end.
    ///
    /// - Returns: Ends the subscription.
    public func bind(to relays: BehaviorRelay<Element>...) -> any Disposable {
        subscribe(onNext: { element in for relay in relays { relay.accept(element) } })
    }

    /// Sends the elements to relays.
    ///
    /// The ending doesn't reach them: relays don't end.
    ///
    /// - Returns: Ends the subscription.
    public func bind(to relays: ReplayRelay<Element>...) -> any Disposable {
        subscribe(onNext: { element in for relay in relays { relay.accept(element) } })
    }
}

extension InfallibleType {
    /// Sends everything to observers, such as a ``Binder``.
    ///
    /// - Returns: Ends the subscription.
    public func bind<Observer: ObserverType>(to observers: Observer...) -> any Disposable
    where Observer.Element == Element {
        asObservable().subscribe { event in for observer in observers { observer.on(event) } }
    }
}
