import Locking

extension ObservableType {
    /// Sends the elements through a subject, to all subscribers alike, once it is connected.
    ///
    /// - Parameter subject: Subscribers subscribe to it. Once it has ended, connecting again has no effect on them.
    /// - Returns: A sequence that subscribes to the source in ``ConnectableObservable/connect()``.
    ///   ReactiveX: Publish.
    public func multicast<Subject: SubjectType>(_ subject: Subject) -> ConnectableObservable<Subject.Element>
    where Subject.Observer.Element == Element { multicast { subject } }

    /// Sends the elements through a subject, to all subscribers alike, once it is connected.
    ///
    /// - Parameter makeSubject: Makes a subject for the first subscriber or connection, and anew after a connection is
    ///   over.
    /// - Returns: A sequence that subscribes to the source in ``ConnectableObservable/connect()``.
    ///   ReactiveX: Publish.
    public func multicast<Subject: SubjectType>(
        makeSubject: @escaping @Sendable () -> Subject
    ) -> ConnectableObservable<Subject.Element> where Subject.Observer.Element == Element {
        let node = MulticastNode(asObservable(), makeSubject)
        return ConnectableObservable({ node.subject().asObservable().attach($0) }, connect: { node.connect() })
    }

    /// Sends the elements through a subject, to a sequence made of it.
    ///
    /// - Parameters:
    ///   - subjectSelector: Makes a subject for each subscription. What it throws is the sequence's error.
    ///   - selector: Makes the sequence; it may subscribe to the subject any number of times. What it throws is the
    ///     sequence's error.
    /// - Returns: That sequence, with one subscription to the source for each to it. ReactiveX: Publish.
    public func multicast<Subject: SubjectType, Result: Sendable>(
        _ subjectSelector: @escaping @Sendable () throws -> Subject,
        selector: @escaping @Sendable (Observable<Subject.Element>) throws -> Observable<Result>
    ) -> Observable<Result> where Subject.Observer.Element == Element {
        let source = asObservable()
        return Observable<Result> { sink in
            do {
                let subject = try subjectSelector()
                let connectable = source.multicast(subject)
                let result = try selector(connectable)
                let lifetime = Lifetime(), connection = SingleAssignmentDisposable()
                sink.lifetime.own(Disposables.create([lifetime, connection]))
                result.attach(lifetime, sink.on)
                connection.setDisposable(connectable.connect())
            } catch { sink.on(.error(error)) }
        }
    }

    /// Sends the elements to all subscribers alike, once it is connected; see ``multicast(makeSubject:)``.
    ///
    /// ReactiveX: Publish.
    public func publish() -> ConnectableObservable<Element> { multicast { PublishSubject<Element>() } }

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

/// A source and the subject in front of it.
private final class MulticastNode<Subject: SubjectType>: Sendable {
    private struct State {
        var subject: Subject?
        var connection: Lifetime?
    }

    private let source: Observable<Subject.Observer.Element>
    private let makeSubject: @Sendable () -> Subject
    private let state = Locked(State())

    init(_ source: Observable<Subject.Observer.Element>, _ makeSubject: @escaping @Sendable () -> Subject) {
        self.source = source
        self.makeSubject = makeSubject
    }

    /// Makes one outside the lock, and lets go of it if another thread was quicker.
    func subject() -> Subject {
        if let present = state.withLock({ $0.subject }) { return present }
        let new = makeSubject()
        return state.withLock { state in
            let subject = state.subject ?? new
            state.subject = subject
            return subject
        }
    }

    func connect() -> any Disposable {
        let subject = subject(), observer = subject.asObserver(), new = Lifetime()
        let present = state.withLock { state -> Lifetime? in
            if let connection = state.connection { return connection }
            state.connection = new
            state.subject = subject
            return nil
        }
        if let present { return Disposables.create { self.end(present) } }
        source.start(
            Sink(new) { event in
                new.admit(event) { event in
                    if event.isStopEvent { self.forget(new) }
                    observer.on(event)
                }
            })
        return Disposables.create { self.end(new) }
    }

    private func end(_ connection: Lifetime) {
        forget(connection)
        connection.dispose()
    }

    private func forget(_ connection: Lifetime) {
        let stale = state.withLock { state -> State? in
            guard state.connection === connection else { return nil }
            return exchange(&state, with: State())
        }
        withExtendedLifetime(stale) {}  // let go of only here, without the lock
    }
}
