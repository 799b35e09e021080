extension ObservableType {
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
