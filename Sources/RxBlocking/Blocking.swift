import FoundationEssentials
import Locking
import Rx

extension BlockingObservable {
    /// Waits for the completion.
    ///
    /// - Returns: All elements. Throws the error.
    public func toArray() throws -> [Element] { try wait().elements() }

    /// Waits for the first element.
    ///
    /// - Returns: It, `nil` if there is none. Throws an error that comes before it.
    public func first() throws -> Element? { try wait(atMost: 1).elements().first }

    /// Waits for the completion.
    ///
    /// - Returns: The last element, `nil` if there is none. Throws the error.
    public func last() throws -> Element? { try wait().elements().last }

    /// Waits for the completion, or for the second element.
    ///
    /// - Returns: The only element. Throws the error, ``Rx/RxError/noElements`` or ``Rx/RxError/moreThanOneElement``.
    public func single() throws -> Element { try single { _ in true } }

    /// Waits for the completion, or for the second element that satisfies `predicate`.
    ///
    /// - Parameter predicate: Runs where the element arrives. What it throws is thrown.
    /// - Returns: The only such element.
    /// - Throws: The error, ``Rx/RxError/noElements`` or ``Rx/RxError/moreThanOneElement``.
    public func single(_ predicate: @escaping @Sendable (Element) throws -> Bool) throws -> Element {
        let matching = BlockingObservable(timeout: timeout, source: source.filter(predicate))
        let elements = try matching.wait(atMost: 2).elements()
        if elements.count > 1 { throw RxError.moreThanOneElement }
        guard let element = elements.first else { throw RxError.noElements }
        return element
    }

    /// Waits for the ending.
    ///
    /// - Returns: All elements, and how it ended.
    public func materialize() -> MaterializedSequenceResult<Element> { wait() }
}

extension MaterializedSequenceResult {
    fileprivate func elements() throws -> [Element] {
        switch self {
        case .completed(let elements): return elements
        case .failed(_, let error): throw error
        }
    }
}

extension BlockingObservable {
    private struct Progress {
        var elements: [Element] = []
        var error: (any Error)?
    }

    /// Waits for so many elements, or the ending.
    private func wait(atMost limit: Int = .max) -> MaterializedSequenceResult<Element> {
        let progress = Locked(Progress())
        let wait = Wait()
        let subscription = source.take(limit).subscribe { event in
            switch event {
            case .next(let element): progress.withLock { $0.elements.append(element) }
            case .error(let error): progress.withLock { $0.error = error }
            case .completed: break
            }
            if event.isStopEvent { wait.end() }
        }
        let isInTime = wait.run(timeout: timeout)
        subscription.dispose()
        let outcome = progress.withLock { $0 }
        let error = isInTime ? outcome.error : RxError.timeout
        return error.map { .failed(elements: outcome.elements, error: $0) } ?? .completed(elements: outcome.elements)
    }
}
