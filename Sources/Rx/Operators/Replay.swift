extension ObservableType {
    /// Like ``publish()``, and gives a later subscriber the latest elements first.
    ///
    /// - Parameter bufferSize: How many, and so how many are kept in memory.
    /// - Returns: A sequence that subscribes to the source in ``ConnectableObservable/connect()``.
    ///   ReactiveX: Replay.
    public func replay(_ bufferSize: Int) -> ConnectableObservable<Element> {
        multicast { ReplaySubject<Element>.create(bufferSize: bufferSize) }
    }

    /// Like ``publish()``, and gives a later subscriber all elements first, which are kept in memory without limit.
    ///
    /// ReactiveX: Replay.
    public func replayAll() -> ConnectableObservable<Element> {
        multicast { ReplaySubject<Element>.createUnbounded() }
    }
}
