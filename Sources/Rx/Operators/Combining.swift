extension ObservableType {
    /// What `combineLatest` and `zip` have in common.
    @inlinable static func combining<each Other: Sendable>(
        _ source: repeat Observable<each Other>, isZip: Bool,
        _ resultSelector: @escaping @Sendable (repeat each Other) throws -> Element
    ) -> Observable<Element> {
        Observable { sink in
            let missing = Cell(0)
            let inputs = (repeat CombinedInput(each source, isZip, missing))
            let node = CombiningNode(sink, isZip ? .zip : .latest, missing) {
                try resultSelector(repeat (each inputs).take())
            }
            var waiting: [CombinedStart] = []
            for input in repeat each inputs { waiting.append(input.starting(in: node)) }
            node.start(waiting)
        }
    }

    @inlinable static func combining<Other: Sendable>(
        _ sources: [Observable<Other>], isZip: Bool,
        _ resultSelector: @escaping @Sendable ([Other]) throws -> Element
    ) -> Observable<Element> {
        Observable { sink in
            let missing = Cell(0)
            let inputs = sources.map { CombinedInput($0, isZip, missing) }
            let node = CombiningNode(sink, isZip ? .collectionZip : .latest, missing) {
                try resultSelector(inputs.map { $0.take() })
            }
            node.start(inputs.map { $0.starting(in: node) })
        }
    }
}

/// How several sequences become one.
@frozen @usableFromInline enum Combining: Sendable { case latest, zip, collectionZip }

/// Subscribes to one of the sequences that are being combined.
@frozen @usableFromInline struct CombinedStart {
    @usableFromInline let lifetime: Lifetime
    @usableFromInline let start: () -> Void

    @inlinable init(_ lifetime: Lifetime, _ start: @escaping () -> Void) {
        self.lifetime = lifetime
        self.start = start
    }
}

/// What one of the combined sequences has sent.
///
/// `@unchecked`: the `var`s are only touched inside the node's queue.
@usableFromInline final class CombinedInput<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let source: Observable<Element>
    @usableFromInline let isZip: Bool
    @usableFromInline let missing: Cell<Int>  // inputs without an element
    @exclusivity(unchecked) @usableFromInline var latest: Element?
    @exclusivity(unchecked) @usableFromInline var ahead = Fifo<Element>()  // after `latest`; only of zip

    @inlinable init(_ source: Observable<Element>, _ isZip: Bool, _ missing: Cell<Int>) {
        self.source = source
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

    @inlinable func starting<Result: Sendable>(in node: CombiningNode<Result>) -> CombinedStart {
        let lifetime = Lifetime()
        return CombinedStart(lifetime) { [self] in
            source.attach(lifetime) { [self] event in
                switch event {
                case .next(let element): node.next(element, to: self)
                case .error(let error): node.end(error)
                case .completed: node.end(nil)
                }
            }
        }
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

    @inlinable func start(_ inputs: [CombinedStart]) {
        sink.lifetime.own(Disposables.create(inputs.map { $0.lifetime }))
        for input in inputs where !input.lifetime.isStopped { input.start() }
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
