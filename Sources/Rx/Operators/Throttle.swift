public import Dispatch

extension ObservableType {
    /// Sends at most one element in a while.
    ///
    /// - Parameters:
    ///   - dueTime: How long.
    ///   - latest: Whether the last of the elements that came meanwhile is sent once it has passed; else they are left out.
    ///   - scheduler: Tells the time, and runs the timer.
    /// - Returns: The first element at once, then those at least `dueTime` apart. A completion waits for the element that
    ///   does; an error is passed on at once. ReactiveX: Debounce, in its ThrottleFirst and Sample, in its ThrottleLast form.
    @inlinable public func throttle(
        _ dueTime: RxTimeInterval, latest: Bool = true, scheduler: any SchedulerType
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let node = ThrottleNode(sink, dueTime, latest, scheduler)
            let lifetime = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, node.timer]))
            source.attach(lifetime) { node.take(.source($0)) }
        }
    }
}

/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class ThrottleNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline enum Input: Sendable { case source(Event<Element>), due(number: Int) }

    @usableFromInline let timer = SerialDisposable()
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let dueTime: RxTimeInterval
    @usableFromInline let sendsLatest: Bool
    @usableFromInline let scheduler: any SchedulerType
    @usableFromInline let queue = SerialQueue<Input>()
    @exclusivity(unchecked) @usableFromInline var waiting: Element?
    @exclusivity(unchecked) @usableFromInline var sent: Instant?  // when the last one was
    @exclusivity(unchecked) @usableFromInline var isSourceOver = false
    @exclusivity(unchecked) @usableFromInline var number = 0  // of the element sent last

    @inlinable init(
        _ sink: Sink<Element>, _ dueTime: RxTimeInterval, _ sendsLatest: Bool, _ scheduler: any SchedulerType
    ) {
        self.sink = sink
        self.dueTime = dueTime
        self.sendsLatest = sendsLatest
        self.scheduler = scheduler
    }

    @inlinable func take(_ input: Input) {
        queue.run(input) { input in
            if sink.lifetime.isStopped { return }
            switch input {
            case .source(.next(let element)): arrive(element)
            case .source(.error(let error)): sink.on(.error(error))
            case .source(.completed):
                isSourceOver = true
                if waiting == nil { sink.on(.completed) }
            case .due(let due):
                guard due == number else { return }  // a newer element won the race against this timer
                if let element = waiting.take() { send(element) }
                if isSourceOver, !sink.lifetime.isStopped { sink.on(.completed) }
            }
        }
    }

    @inlinable func arrive(_ element: Element) {
        let left = sent.map { dueTime.shortened(by: $0.elapsed(at: Instant(scheduler))) } ?? .nanoseconds(0)
        if left.inSeconds <= 0 { return send(element) }
        if !sendsLatest { return }
        if exchange(&waiting, with: element) == nil {
            timer.start(after: left, on: scheduler) { [self, number] in take(.due(number: number)) }
        }
    }

    @inlinable func send(_ element: Element) {
        waiting = nil
        number += 1
        sent = Instant(scheduler)
        sink.on(.next(element))
    }
}
