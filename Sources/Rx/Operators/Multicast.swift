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
        return ConnectableObservable(
            { node.attach($0) }, counting: { node.attach(counting: $0) }, connect: { node.connect() })
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
}

/// A source and the subject in front of it.
///
/// A generation is a subject with the connection that feeds it. Subscribers who keep the connection are counted with the
/// generation whose subject they get, in one step: none can get a subject that nothing will feed.
private final class MulticastNode<Subject: SubjectType>: Sendable {
    private struct State {
        var number = 0  // of the generation
        var subject: Subject?
        var connection: Lifetime?
        var counted = 0  // subscribers who keep the connection

        /// - Returns: The subject and its generation, if there is one.
        mutating func join(counting count: Int) -> (subject: Subject, number: Int)? {
            guard let subject else { return nil }
            counted += count
            return (subject, number)
        }

        /// - Returns: The generation that is over, to be let go of outside the lock.
        mutating func renew() -> State { exchange(&self, with: State(number: number + 1)) }
    }

    private let source: Observable<Subject.Observer.Element>
    private let makeSubject: @Sendable () -> Subject
    private let state = Locked(State())

    init(_ source: Observable<Subject.Observer.Element>, _ makeSubject: @escaping @Sendable () -> Subject) {
        self.source = source
        self.makeSubject = makeSubject
    }

    func attach(_ sink: Sink<Subject.Element>) { join(counting: 0).subject.asObservable().attach(sink) }

    func attach(counting sink: Sink<Subject.Element>) {
        let lifetime = Lifetime()
        let (subject, number) = join(counting: 1)
        sink.lifetime.own { [self] in
            lifetime.dispose()
            leave(number)
        }
        subject.asObservable().attach(lifetime, sink.on)
        if !sink.lifetime.isStopped { _ = connect(subject, number) }
    }

    func connect() -> any Disposable {
        while true {
            let (subject, number) = join(counting: 0)
            if let connection = connect(subject, number) { return Disposables.create { self.end(connection) } }
        }
    }

    /// Makes a subject outside the lock, and lets go of it if another thread was quicker.
    private func join(counting count: Int) -> (subject: Subject, number: Int) {
        while true {
            if let joined = state.withLock({ $0.join(counting: count) }) { return joined }
            let new = makeSubject()
            state.withLock { if $0.subject == nil { $0.subject = new } }
        }
    }

    /// - Returns: The generation's connection, made if there was none; `nil` if the generation is over.
    private func connect(_ subject: Subject, _ number: Int) -> Lifetime? {
        let new = Lifetime()
        let present = state.withLock { state -> Lifetime? in
            if state.number != number { return nil }
            if state.connection == nil { state.connection = new }
            return state.connection
        }
        if present === new { start(new, subject.asObserver()) }
        return present
    }

    private func start(_ connection: Lifetime, _ observer: Subject.Observer) {
        source.start(
            Sink(connection) { event in
                connection.admit(event) { event in
                    if event.isStopEvent { self.forget(connection) }
                    observer.on(event)
                }
            })
    }

    private func leave(_ number: Int) {
        let stale = state.withLock { state -> State? in
            if state.number != number { return nil }
            state.counted -= 1
            return state.counted == 0 ? state.renew() : nil
        }
        stale?.connection?.dispose()
    }

    private func end(_ connection: Lifetime) {
        forget(connection)
        connection.dispose()
    }

    private func forget(_ connection: Lifetime) {
        let stale = state.withLock { $0.connection === connection ? $0.renew() : nil }
        withExtendedLifetime(stale) {}  // let go of only here, without the lock
    }
}
