extension ObservableType {
    /// Sends the elements given, and completes.
    ///
    /// - Parameters:
    ///   - elements: What is sent, in order.
    ///   - scheduler: Runs one turn for each element and one for the completion. The default one runs inside
    ///     `subscribe`, and sources on one thread take turns.
    /// - Returns: A cold sequence. ReactiveX: From.
    @inlinable public static func of(
        _ elements: Element..., scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance
    ) -> Observable<Element> { from(elements, scheduler: scheduler) }

    /// Sends the elements of an array, and completes; see ``of(_:scheduler:)``.
    ///
    /// ReactiveX: From.
    @inlinable public static func from(
        _ array: [Element], scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance
    ) -> Observable<Element> {
        Observable { SequenceNode($0, array).run(on: scheduler) }
    }

    /// Sends the elements of a sequence, and completes; see ``of(_:scheduler:)``.
    ///
    /// Each subscription makes an iterator.
    ///
    /// ReactiveX: From.
    @inlinable public static func from<Elements: Sequence & Sendable>(
        _ sequence: Elements, scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance
    ) -> Observable<Element> where Elements.Element == Element {
        Observable { SequenceNode($0, sequence).run(on: scheduler) }
    }

    /// Sends what is in the optional, if anything, and completes.
    ///
    /// ReactiveX: From.
    @inlinable public static func from(optional: Element?) -> Observable<Element> {
        if let optional { just(optional) } else { empty() }
    }

    /// Sends what is in the optional, if anything, and completes.
    ///
    /// - Parameters:
    ///   - optional: What is sent.
    ///   - scheduler: Runs a turn for the element, if there is one, and then one for the completion.
    /// - Returns: A cold sequence. ReactiveX: From.
    @inlinable public static func from(
        optional: Element?, scheduler: any ImmediateSchedulerType
    ) -> Observable<Element> {
        if let optional { return just(optional, scheduler: scheduler) }
        return Observable { SequenceNode($0) { nil }.run(on: scheduler) }
    }
}

/// `@unchecked`: one turn follows another, and only they call `next`.
@usableFromInline final class SequenceNode<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let sink: Sink<Element>
    @usableFromInline let next: () throws -> Element?

    @inlinable init(_ sink: Sink<Element>, _ next: @escaping () throws -> Element?) {
        self.sink = sink
        self.next = next
    }

    @inlinable convenience init<Elements: Sequence>(_ sink: Sink<Element>, _ elements: Elements)
    where Elements.Element == Element {
        var iterator = elements.makeIterator()
        self.init(sink) { iterator.next() }
    }

    @inlinable func run(on scheduler: any ImmediateSchedulerType) {
        if scheduler is CurrentThreadScheduler {
            Trampoline.add { [self] in turn() }
        } else {
            sink.lifetime.own(scheduler.scheduleRecursive(()) { [self] _, again in if turn() { again(()) } })
        }
    }

    /// - Returns: Whether there is another turn.
    @inlinable func turn() -> Bool {
        if sink.lifetime.isStopped { return false }
        do {
            guard let element = try next() else {
                sink.on(.completed)
                return false
            }
            sink.on(.next(element))
            return true
        } catch {
            sink.on(.error(error))
            return false
        }
    }
}
