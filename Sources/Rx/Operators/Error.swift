extension ObservableType {
    /// Fails inside `subscribe`.
    ///
    /// ReactiveX: Throw.
    @inlinable public static func error(_ error: any Error) -> Observable<Element> {
        Observable { $0.on(.error(error)) }
    }
}
