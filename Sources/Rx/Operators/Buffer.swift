extension ObservableType {
    /// Gathers elements into arrays, until there are enough or a while has passed.
    ///
    /// - Parameters:
    ///   - timeSpan: How long an array waits for more.
    ///   - count: How many elements fill it, and so how many are kept in memory.
    ///   - scheduler: Runs the timer and delivers arrays that didn't fill.
    /// - Returns: The arrays, empty ones too. What has been gathered is sent before a completion, and dropped by an error.
    ///   ReactiveX: Buffer.
    @inlinable public func buffer(
        timeSpan: RxTimeInterval, count: Int, scheduler: any SchedulerType
    ) -> Observable<[Element]> {
        let source = asObservable()
        return Observable<[Element]> { sink in
            let node = BufferNode(sink, timeSpan, count, scheduler)
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, node.timer]))
            node.wait()
            source.attach(lifetime) { node.take(.source($0)) }
        }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`, and before the first input.
@usableFromInline final class BufferNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), due(number: Int) }

    @usableFromInline let timer = SerialDisposable()
    @usableFromInline let sink: Sink<[Element]>
    @usableFromInline let timeSpan: RxTimeInterval
    @usableFromInline let count: Int
    @usableFromInline let scheduler: any SchedulerType
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var gathered: [Element] = []
    @exclusivity(unchecked) @usableFromInline var number = 0  // of the array

    @inlinable init(
        _ sink: Sink<[Element]>, _ timeSpan: RxTimeInterval, _ count: Int, _ scheduler: any SchedulerType
    ) {
        self.sink = sink
        self.timeSpan = timeSpan
        self.count = count
        self.scheduler = scheduler
    }

    @inlinable func wait() {
        timer.start(after: timeSpan, on: scheduler) { [self, number] in take(.due(number: number)) }
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .source(.next(let element)):
                gathered.append(element)
                if gathered.count >= count { send() }
            case .source(.error(let error)): sink.on(.error(error))
            case .source(.completed):
                sink.on(.next(gathered))
                if !sink.lifetime.isStopped { sink.on(.completed) }
            case .due(let due): if due == number { send() }
            }
        }
    }

    @inlinable func send() {
        number += 1
        wait()
        sink.on(.next(exchange(&gathered, with: [])))
    }
}
