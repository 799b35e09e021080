extension ObservableType {
    /// Sends a state and what it becomes, step by step.
    ///
    /// - Parameters:
    ///   - initialState: The first element.
    ///   - condition: Runs before an element is sent; the sequence completes once it returns `false`, and fails with what
    ///     it throws.
    ///   - scheduler: Runs one turn for each element and one for the completion.
    ///   - iterate: Makes the next element. What it throws ends the sequence.
    /// - Returns: A cold sequence. ReactiveX: Create, in its Generate form.
    @inlinable public static func generate(
        initialState: Element, condition: @escaping @Sendable (Element) throws -> Bool,
        scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance,
        iterate: @escaping @Sendable (Element) throws -> Element
    ) -> Observable<Element> {
        Observable { sink in
            var state: Element?
            let node = SequenceNode(sink) { () throws -> Element? in
                let next = try state.map(iterate) ?? initialState
                state = next
                return try condition(next) ? next : nil
            }
            node.run(on: scheduler)
        }
    }
}
