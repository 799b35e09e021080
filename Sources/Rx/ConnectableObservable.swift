/// A sequence that subscribes to its source when told to.
public protocol ConnectableObservableType: ObservableType {
    /// Subscribes to the source, unless that has been done.
    ///
    /// - Returns: Ends that subscription.
    func connect() -> any Disposable
}

/// A sequence whose subscribers share one subscription to the source, made in ``connect()``.
///
/// `@unchecked`: what it stores is constant.
public final class ConnectableObservable<Element: Sendable>: Observable<Element>, ConnectableObservableType,
    @unchecked Sendable
{
    /// Subscribes, and keeps the connection as long as there are such subscribers.
    let counting: @Sendable (Sink<Element>) -> Void
    private let connection: @Sendable () -> any Disposable

    init(
        _ body: @escaping @Sendable (Sink<Element>) -> Void, counting: @escaping @Sendable (Sink<Element>) -> Void,
        connect: @escaping @Sendable () -> any Disposable
    ) {
        self.counting = counting
        connection = connect
        super.init(body)
    }

    /// Subscribes to the source, unless that has been done and it hasn't ended.
    ///
    /// - Returns: Ends that subscription, whoever made it.
    public func connect() -> any Disposable { connection() }
}
