extension ObservableType {
    /// Fails when nothing comes for too long.
    ///
    /// - Parameters:
    ///   - dueTime: Longest wait for the first event, and from one to the next.
    ///   - scheduler: Runs the timer.
    /// - Returns: The source's events until then; fails with ``RxError/timeout``. ReactiveX: Timeout.
    @inlinable public func timeout(_ dueTime: RxTimeInterval, scheduler: any SchedulerType) -> Observable<Element> {
        timeout(dueTime, other: Observable.error(RxError.timeout), scheduler: scheduler)
    }

    /// Goes on with another sequence when nothing comes for too long.
    ///
    /// - Parameters:
    ///   - dueTime: Longest wait for the first event, and from one to the next.
    ///   - other: Subscribed to once the source has been let go of.
    ///   - scheduler: Runs the timer and subscribes.
    /// - Returns: The source's events until then, then those of `other`. ReactiveX: Timeout.
    @inlinable public func timeout<Source: ObservableConvertibleType>(
        _ dueTime: RxTimeInterval, other: Source, scheduler: any SchedulerType
    ) -> Observable<Element> where Source.Element == Element {
        let source = asObservable()
        return Observable { sink in
            let node = TimeoutNode(sink, dueTime, other.asObservable(), scheduler)
            let lifetime = Lifetime()
            node.current.disposable = lifetime
            sink.lifetime.own(Disposables.create([node.current, node.timer]))
            node.wait()
            source.attach(lifetime) { node.take(.source($0)) }
        }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`, and before the first input.
@usableFromInline final class TimeoutNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), late(after: Int) }

    @usableFromInline let current = SerialDisposable()
    @usableFromInline let timer = SerialDisposable()
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let dueTime: RxTimeInterval
    @usableFromInline let other: Observable<Element>
    @usableFromInline let scheduler: any SchedulerType
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var number = 0  // of the latest event
    @exclusivity(unchecked) @usableFromInline var isLate = false

    @inlinable init(
        _ sink: Sink<Element>, _ dueTime: RxTimeInterval, _ other: Observable<Element>, _ scheduler: any SchedulerType
    ) {
        self.sink = sink
        self.dueTime = dueTime
        self.other = other
        self.scheduler = scheduler
    }

    @inlinable func wait() {
        timer.start(after: dueTime, on: scheduler) { [self, number] in take(.late(after: number)) }
    }

    @inlinable func take(_ input: Input) {
        var isSwitching = false
        queue.run(input) { input in
            if isLate || sink.lifetime.isStopped { return }
            switch input {
            case .source(let event):
                number += 1
                if !event.isStopEvent { wait() }
                sink.on(event)
            case .late(let past):
                guard past == number else { return }  // an event won the race against this timer
                isLate = true
                isSwitching = true
            }
        }
        if isSwitching { switchOver() }
    }

    @inlinable func switchOver() {
        let lifetime = Lifetime()
        current.disposable = lifetime
        other.start(Sink(lifetime) { [sink] event in lifetime.admit(event, sink.on) })
    }
}
