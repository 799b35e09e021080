extension ObservableType {
    /// Completes inside `subscribe`.
    ///
    /// ReactiveX: Empty.
    @inlinable public static func empty() -> Observable<Element> { Observable { $0.on(.completed) } }
}
