extension ObservableType {
    /// Makes a sequence of each element, and sends their elements, one sequence after the other.
    ///
    /// - Parameter selector: Runs where the element arrives. What it throws ends the sequence.
    /// - Returns: The elements of all inner sequences, each subscribed to once the one before has completed; until then it
    ///   is kept in memory. Completes with the last, and fails with the first that does. ReactiveX: ConcatMap.
    @inlinable public func concatMap<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) throws -> Source
    ) -> Observable<Source.Element> {
        mergeMap(maxConcurrent: 1, selector)
    }
}
