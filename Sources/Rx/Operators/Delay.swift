extension ObservableType {
    /// Sends everything a while later.
    ///
    /// - Parameters:
    ///   - dueTime: How long.
    ///   - scheduler: Tells the time, runs the timer and delivers.
    /// - Returns: The elements and the completion, each `dueTime` after it came; until then they are kept in memory. An
    ///   error is passed on at once, and what is still waiting is dropped. ReactiveX: Delay.
    @inlinable public func delay(_ dueTime: RxTimeInterval, scheduler: any SchedulerType) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let node = DelayNode(sink, dueTime, scheduler)
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, node.timer]))
            source.attach(lifetime) { node.take(.source($0)) }
        }
    }
}

/// `@unchecked`: `waiting` is only touched inside `queue`.
@usableFromInline final class DelayNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), due }

    @frozen @usableFromInline struct Waiting: Sendable {
        @usableFromInline let since: Instant
        @usableFromInline let event: Event<Element>

        @inlinable init(since: Instant, event: Event<Element>) {
            self.since = since
            self.event = event
        }
    }

    @usableFromInline let timer = SerialDisposable()
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let dueTime: RxTimeInterval
    @usableFromInline let scheduler: any SchedulerType
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var waiting = Fifo<Waiting>()

    @inlinable init(_ sink: Sink<Element>, _ dueTime: RxTimeInterval, _ scheduler: any SchedulerType) {
        self.sink = sink
        self.dueTime = dueTime
        self.scheduler = scheduler
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .source(.error(let error)): sink.on(.error(error))
            case .source(let event):
                let isFirst = waiting.isEmpty
                waiting.append(Waiting(since: Instant(scheduler), event: event))
                if isFirst { wait(dueTime) }
            case .due: sendDue()
            }
        }
    }

    @inlinable func wait(_ time: RxTimeInterval) {
        timer.start(after: time, on: scheduler) { [self] in take(.due) }
    }

    /// One event a turn, also where several are due: others may use the scheduler in between.
    @inlinable func sendDue() {
        guard let due = waiting.popFirst() else { return }
        sink.on(due.event)
        guard let next = waiting.next, !sink.lifetime.isStopped else { return }
        wait(dueTime.shortened(by: next.since.elapsed(at: Instant(scheduler))))
    }
}
