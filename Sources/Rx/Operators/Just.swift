extension ObservableType {
    /// Sends one element and completes, inside `subscribe`.
    @inlinable public static func just(_ element: Element) -> Observable<Element> { Observable(only: element) }
}
