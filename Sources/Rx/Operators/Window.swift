extension ObservableType {
    /// Hands the elements on in sequences, each of which ends when it has had enough or a while has passed.
    ///
    /// - Parameters:
    ///   - timeSpan: How long a window is open.
    ///   - count: How many elements fill it.
    ///   - scheduler: Runs the timer and opens the next window.
    /// - Returns: The windows, the first one inside `subscribe`; the source's ending ends the last window and the result.
    ///   A window sends what comes while it is subscribed to, and keeps nothing. The source is let go of when the result
    ///   and all windows have been. ReactiveX: Window.
    @inlinable public func window(
        timeSpan: RxTimeInterval, count: Int, scheduler: any SchedulerType
    ) -> Observable<Observable<Element>> {
        let source = asObservable()
        return Observable<Observable<Element>> { sink in
            let node = WindowNode(sink, timeSpan, count, scheduler)
            sink.lifetime.own(node.shared)
            node.take(.open)
            source.attach(node.lifetime) { node.take(.source($0)) }
        }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class WindowNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case open, source(Event<Element>), due(number: Int) }

    @usableFromInline let timer: SerialDisposable
    @usableFromInline let lifetime: Lifetime
    @usableFromInline let shared: RefCountDisposable
    @usableFromInline let sink: Sink<Observable<Element>>
    @usableFromInline let timeSpan: RxTimeInterval
    @usableFromInline let count: Int
    @usableFromInline let scheduler: any SchedulerType
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var window = PublishSubject<Element>()
    @exclusivity(unchecked) @usableFromInline var sent = 0  // elements, into this window
    @exclusivity(unchecked) @usableFromInline var number = 0  // of the window

    @inlinable init(
        _ sink: Sink<Observable<Element>>, _ timeSpan: RxTimeInterval, _ count: Int, _ scheduler: any SchedulerType
    ) {
        self.sink = sink
        self.timeSpan = timeSpan
        self.count = count
        self.scheduler = scheduler
        let timer = SerialDisposable(), lifetime = Lifetime()
        self.timer = timer
        self.lifetime = lifetime
        shared = RefCountDisposable(disposable: Disposables.create([lifetime, timer]))
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            switch input {
            case .open: open()
            case .source(.next):
                if case .source(let event) = input { window.on(event) }
                sent += 1
                if sent == count { renew() }
            case .source(let ending):
                window.on(ending)
                if !sink.lifetime.isStopped { sink.on(ending.error.map { .error($0) } ?? .completed) }
            case .due(let due): if due == number { renew() }
            }
        }
    }

    @inlinable func renew() {
        window.onCompleted()
        window = PublishSubject()
        sent = 0
        number += 1
        open()
    }

    @inlinable func open() {
        timer.start(after: timeSpan, on: scheduler) { [self, number] in take(.due(number: number)) }
        if !sink.lifetime.isStopped { sink.on(.next(window.keeping(shared))) }
    }
}

extension PublishSubject {
    /// The same sequence, which keeps something from being disposed of while it is subscribed to.
    @inlinable func keeping(_ shared: RefCountDisposable) -> Observable<Element> {
        Observable { [self] sink in
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, shared.retain()]))
            attach(lifetime, sink.on)
        }
    }
}
