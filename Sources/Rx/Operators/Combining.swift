extension ObservableType {
    /// What `combineLatest` and `zip` have in common.
    ///
    /// - Parameters:
    ///   - kind: Which of them.
    ///   - inputs: Adds the sequences for a subscription, and returns what makes a result of their elements.
    /// - Returns: The results, in the order of the elements that made them.
    @inlinable static func combining(
        _ kind: Combining,
        _ inputs: @escaping @Sendable (CombinedInputs<Element>) -> () throws -> Element
    ) -> Observable<Element> {
        Observable { sink in
            let all = CombinedInputs<Element>(isZip: kind != .latest)
            let combine = inputs(all)
            CombiningNode(sink, kind, all.missing, combine).start(all.starts)
        }
    }
}

/// The sequences that one subscription combines.
///
/// `@unchecked`: filled before the node starts, on one thread.
@usableFromInline final class CombinedInputs<Result: Sendable>: @unchecked Sendable {
    @usableFromInline let isZip: Bool
    @usableFromInline let missing = Cell(0)
    @usableFromInline var starts: [CombinedStart<Result>] = []

    @inlinable init(isZip: Bool) { self.isZip = isZip }

    @inlinable func add<Source: ObservableConvertibleType>(_ source: Source) -> CombinedInput<Source.Element> {
        let input = CombinedInput<Source.Element>(isZip, missing)
        let source = source.asObservable(), lifetime = Lifetime()
        starts.append(
            CombinedStart(lifetime) { node in
                source.attach(lifetime) { event in
                    switch event {
                    case .next(let element): node.next(element, to: input)
                    case .error(let error): node.end(error)
                    case .completed: node.end(nil)
                    }
                }
            })
        return input
    }
}

/// How several sequences become one.
@frozen @usableFromInline enum Combining: Sendable { case latest, zip, collectionZip }

/// Subscribes to one of the sequences that are being combined.
@frozen @usableFromInline struct CombinedStart<Result: Sendable> {
    @usableFromInline let lifetime: Lifetime
    @usableFromInline let start: (CombiningNode<Result>) -> Void

    @inlinable init(_ lifetime: Lifetime, _ start: @escaping (CombiningNode<Result>) -> Void) {
        self.lifetime = lifetime
        self.start = start
    }
}

/// What one of the combined sequences has sent.
///
/// `@unchecked`: the `var`s are only touched inside the node's queue.
@usableFromInline final class CombinedInput<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let isZip: Bool
    @usableFromInline let missing: Cell<Int>  // inputs without an element
    @exclusivity(unchecked) @usableFromInline var latest: Element?
    @exclusivity(unchecked) @usableFromInline var ahead = Fifo<Element>()  // after `latest`; only of zip

    @inlinable init(_ isZip: Bool, _ missing: Cell<Int>) {
        self.isZip = isZip
        self.missing = missing
        missing.value += 1
    }

    @inlinable func put(_ element: Element) {
        if latest == nil {
            missing.value -= 1
        } else if isZip {
            return ahead.append(element)
        }
        latest = element
    }

    /// Only called when there is one.
    @inlinable func take() -> Element {
        guard let element = latest else { preconditionFailure("an input without an element was taken from") }
        if isZip {
            latest = ahead.popFirst()
            if latest == nil { missing.value += 1 }
        }
        return element
    }
}

/// Knows which of the combined sequences have something to give, and which are over.
///
/// An element is put into its input by whoever finds the queue idle; only when it isn't, the element waits in a closure.
///
/// `@unchecked`: the `var`s are only touched inside `queue`.
@usableFromInline final class CombiningNode<Result: Sendable>: @unchecked Sendable {
    @usableFromInline let sink: Sink<Result>
    @usableFromInline let kind: Combining
    @usableFromInline let combine: () throws -> Result
    @usableFromInline let queue = SerialQueue<@Sendable () -> Void>()
    @usableFromInline let missing: Cell<Int>  // inputs without an element
    @exclusivity(unchecked) @usableFromInline var running: Int  // inputs

    @inlinable init(
        _ sink: Sink<Result>, _ kind: Combining, _ missing: Cell<Int>, _ combine: @escaping () throws -> Result
    ) {
        self.sink = sink
        self.kind = kind
        self.combine = combine
        self.missing = missing
        running = missing.value
    }

    @inlinable func start(_ inputs: [CombinedStart<Result>]) {
        sink.lifetime.own(Disposables.create(inputs.map { $0.lifetime }))
        for input in inputs where !input.lifetime.isStopped { input.start(self) }
        if !inputs.isEmpty { return }
        if kind == .latest { send() }
        if !sink.lifetime.isStopped { sink.on(.completed) }
    }

    @inlinable func next<Element: Sendable>(_ element: Element, to input: CombinedInput<Element>) {
        guard queue.claim(or: { [self] in arrive(element, input) }) else { return }
        arrive(element, input)
        queue.drain { $0() }
    }

    @inlinable func arrive<Element: Sendable>(_ element: Element, _ input: CombinedInput<Element>) {
        if sink.lifetime.isStopped { return }
        input.put(element)
        if missing.value > 0 {
            if running == 1, kind != .zip { sink.on(.completed) }  // those that are missing can't come any more
            return
        }
        send()
    }

    @inlinable func send() {
        do { sink.on(.next(try combine())) } catch { sink.on(.error(error)) }
    }

    @inlinable func end(_ error: (any Error)?) {
        queue.run({ [self] in
            if sink.lifetime.isStopped { return }
            if let error { return sink.on(.error(error)) }
            running -= 1
            if running == 0 { sink.on(.completed) }
        }) { $0() }
    }
}
