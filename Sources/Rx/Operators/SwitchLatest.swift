extension ObservableType where Element: ObservableConvertibleType {
    /// The elements of the latest sequence that came; see ``flatMapLatest(_:)``.
    ///
    /// ReactiveX: Switch.
    @inlinable public func switchLatest() -> Observable<Element.Element> { flatMapLatest { $0 } }
}
