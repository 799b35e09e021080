extension ObservableType {
    /// Completes inside `subscribe`.
    @inlinable public static func empty() -> Observable<Element> { Observable { $0.on(.completed) } }
}
