extension ObservableType {
    /// Sends nothing and never ends.
    @inlinable public static func never() -> Observable<Element> { Observable { _ in } }
}
