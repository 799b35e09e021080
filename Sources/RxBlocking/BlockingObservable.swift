public import FoundationEssentials
public import Rx

/// A sequence that the calling thread waits for; made by ``Rx/ObservableConvertibleType/toBlocking(timeout:)``.
///
/// Each call subscribes anew. While it waits on the main thread, that thread's run loop goes on: the sequence may use it.
public struct BlockingObservable<Element: Sendable>: Sendable {
    let timeout: TimeInterval?
    let source: Observable<Element>
}

extension ObservableConvertibleType {
    /// Lets the calling thread wait for the sequence, as tests do.
    ///
    /// - Parameter timeout: Longest wait, in seconds; `nil`: without limit. Then it is over with ``Rx/RxError/timeout``.
    /// - Returns: What to call.
    public func toBlocking(timeout: TimeInterval? = nil) -> BlockingObservable<Element> {
        BlockingObservable(timeout: timeout, source: asObservable())
    }
}

/// All that a sequence sent.
@frozen public enum MaterializedSequenceResult<Element: Sendable>: Sendable {
    /// Its elements, and that it completed.
    case completed(elements: [Element])
    /// Its elements, and how it failed.
    case failed(elements: [Element], error: any Error)
}
