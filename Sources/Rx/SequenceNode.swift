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
