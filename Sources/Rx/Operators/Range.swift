extension ObservableType where Element: FixedWidthInteger {
    /// Counts up.
    ///
    /// - Parameters:
    ///   - start: The first number.
    ///   - count: How many numbers there are; not negative.
    ///   - scheduler: Runs one turn for each number and one for the completion.
    /// - Returns: A cold sequence of `start`, `start + 1` and so on, which must not pass the type's largest number.
    ///   ReactiveX: Range.
    @inlinable public static func range(
        start: Element, count: Element, scheduler: any ImmediateSchedulerType = CurrentThreadScheduler.instance
    ) -> Observable<Element> {
        precondition(count >= 0, "the count must not be negative")
        precondition(count == 0 || start <= Element.max - (count - 1), "the range passes the largest number")
        return Observable { sink in
            var sent: Element = 0
            let node = SequenceNode(sink) { () -> Element? in
                if sent == count { return nil }
                defer { sent += 1 }
                return start + sent
            }
            node.run(on: scheduler)
        }
    }
}
