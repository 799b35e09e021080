extension ObservableType {
    /// Sends the elements to all subscribers alike, once it is connected; see ``multicast(makeSubject:)``.
    ///
    /// ReactiveX: Publish.
    public func publish() -> ConnectableObservable<Element> { multicast { PublishSubject<Element>() } }
}
