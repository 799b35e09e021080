extension ObservableType {
    /// Sends nothing and never ends.
    ///
    /// ReactiveX: Never.
    @inlinable public static func never() -> Observable<Element> { Observable { _ in } }
}
