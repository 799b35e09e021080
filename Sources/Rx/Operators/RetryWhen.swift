extension ObservableType {
    /// Subscribes again whenever a sequence made of the errors says so.
    ///
    /// - Parameter notificationHandler: Gets the errors of the source. Each element of what it returns starts an attempt
    ///   once the last one has failed; its ending is the ending of the result, once the attempt that runs has failed.
    /// - Returns: The elements of all attempts. An attempt is torn down before its error is told.
    @inlinable public func retry<Trigger: ObservableType>(
        when notificationHandler: @escaping @Sendable (Observable<any Error>) -> Trigger
    ) -> Observable<Element> {
        retrying(notificationHandler) { $0 }
    }

    /// Subscribes again whenever a sequence made of the errors of one type says so.
    ///
    /// - Parameter notificationHandler: Gets those errors; an error of another type ends the result. See
    ///   ``retry(when:)-((Observable<Error>)->Trigger)``.
    /// - Returns: The elements of all attempts. An attempt is torn down before its error is told. ReactiveX: Retry.
    @inlinable public func retry<Failure: Error, Trigger: ObservableType>(
        when notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
    ) -> Observable<Element> {
        retrying(notificationHandler) { $0 as? Failure }
    }

    @inlinable func retrying<Failure: Sendable, Trigger: ObservableType>(
        _ notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger,
        _ accept: @escaping @Sendable (any Error) -> Failure?
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let node = RetryWhenNode(source, sink, accept)
            let triggers = Lifetime()
            sink.lifetime.own(Disposables.create([node.attempt, triggers]))
            notificationHandler(node.errors).asObservable().attach(
                Sink(triggers) { event in triggers.admit(event) { node.take(.trigger($0.map { _ in })) } })
            node.take(.subscribe)
        }
    }
}

/// Elements go through `output` and not `queue`, which is busy while a source loops inside `start`.
///
/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class RetryWhenNode<Element: Sendable, Failure: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case subscribe, trigger(Event<Void>), failed(any Error) }

    @usableFromInline let errors = PublishSubject<Failure>()
    @usableFromInline let source: Observable<Element>
    @usableFromInline let accept: @Sendable (any Error) -> Failure?
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let output: MergeNode<Element>
    @usableFromInline let attempt = SerialDisposable()
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var isRunning = true  // the first attempt is due
    @exclusivity(unchecked) @usableFromInline var ending: Event<Element>?  // of the triggers

    @inlinable init(
        _ source: Observable<Element>, _ sink: Sink<Element>, _ accept: @escaping @Sendable (any Error) -> Failure?
    ) {
        self.source = source
        self.accept = accept
        self.sink = sink
        output = MergeNode(sink, sources: 1)
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .subscribe: subscribe()
            case .trigger(.next): if !isRunning { subscribe() }
            case .trigger(.error(let error)): end(.error(error))
            case .trigger(.completed): end(.completed)
            case .failed(let error):
                isRunning = false
                if let ending { return output.on(ending) }
                if let error = accept(error) { errors.onNext(error) } else { output.on(.error(error)) }
            }
        }
    }

    /// The triggers' ending lets the attempt that runs go on.
    @inlinable func end(_ event: Event<Element>) {
        if isRunning { ending = event } else { output.on(event) }
    }

    /// A source that fails inside `start` leaves its error in the queue: it loops, and never nests.
    @inlinable func subscribe() {
        isRunning = true
        let lifetime = Lifetime()
        attempt.disposable = lifetime
        source.start(
            Sink(lifetime) { [self] event in
                lifetime.admit(event) { event in
                    guard case .error(let error) = event else { return output.on(event) }
                    lifetime.dispose()
                    take(.failed(error))
                }
            })
    }
}
