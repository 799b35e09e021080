extension ObservableType {
    /// Sends an element once no other has come for a while.
    ///
    /// - Parameters:
    ///   - dueTime: How long.
    ///   - scheduler: Runs the timer and delivers.
    /// - Returns: The last element of each burst, `dueTime` after it; one still waiting at the completion is sent before
    ///   it. An error is passed on at once. ReactiveX: Debounce.
    @inlinable public func debounce(
        _ dueTime: RxTimeInterval, scheduler: any SchedulerType
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let node = DebounceNode(sink, dueTime, scheduler)
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, node.timer]))
            source.attach(lifetime) { node.take(.source($0)) }
        }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class DebounceNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), due(number: Int) }

    @usableFromInline let timer = SerialDisposable()
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let dueTime: RxTimeInterval
    @usableFromInline let scheduler: any SchedulerType
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var waiting: Element?
    @exclusivity(unchecked) @usableFromInline var number = 0  // of the latest element

    @inlinable init(_ sink: Sink<Element>, _ dueTime: RxTimeInterval, _ scheduler: any SchedulerType) {
        self.sink = sink
        self.dueTime = dueTime
        self.scheduler = scheduler
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .source(.next(let element)):
                waiting = element
                number += 1
                timer.start(after: dueTime, on: scheduler) { [self, number] in take(.due(number: number)) }
            case .source(.error(let error)): sink.on(.error(error))
            case .source(.completed):
                send()
                if !sink.lifetime.isStopped { sink.on(.completed) }
            case .due(let due): if due == number { send() }
            }
        }
    }

    @inlinable func send() {
        if let element = waiting.take() { sink.on(.next(element)) }
    }
}
