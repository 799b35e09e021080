extension ObservableType {
    /// Sends `default` if the source completes without an element.
    ///
    /// - Returns: The source's elements, or that one. Ends as the source does. ReactiveX: DefaultIfEmpty.
    @inlinable public func ifEmpty(default: Element) -> Observable<Element> { ifEmpty(switchTo: .just(`default`)) }

    /// Goes on with `other` if the source completes without an element.
    ///
    /// - Parameter other: Subscribed to once the source has been let go of.
    /// - Returns: The source's elements, or those of `other`; ends as it does. ReactiveX: SwitchIfEmpty.
    @inlinable public func ifEmpty(switchTo other: Observable<Element>) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let isEmpty = Cell(true)
            let lifetime = Lifetime(), current = SerialDisposable()
            current.disposable = lifetime
            sink.lifetime.own(current)
            source.attach(lifetime) { event in
                if case .completed = event, isEmpty.value {
                    let next = Lifetime()
                    current.disposable = next
                    return other.attach(next, sink.on)
                }
                isEmpty.value = false
                sink.on(event)
            }
        }
    }
}
