extension ObservableType {
    /// Leaves out elements equal to the one before.
    ///
    /// ReactiveX: Distinct, in its DistinctUntilChanged form.
    @inlinable public func distinctUntilChanged() -> Observable<Element> where Element: Equatable {
        distinctUntilChanged({ $0 }, comparer: { $0 == $1 })
    }

    /// Leaves out elements whose key equals that of the one before.
    ///
    /// ReactiveX: Distinct, in its DistinctUntilChanged form.
    @inlinable public func distinctUntilChanged<Key: Equatable & Sendable>(
        _ keySelector: @escaping @Sendable (Element) throws -> Key
    ) -> Observable<Element> {
        distinctUntilChanged(keySelector, comparer: { $0 == $1 })
    }

    /// Leaves out elements that `comparer` calls equal to the one before.
    ///
    /// ReactiveX: Distinct, in its DistinctUntilChanged form.
    @inlinable public func distinctUntilChanged(
        _ comparer: @escaping @Sendable (_ lhs: Element, _ rhs: Element) throws -> Bool
    ) -> Observable<Element> {
        distinctUntilChanged({ $0 }, comparer: comparer)
    }

    /// Leaves out elements whose property is equal to that of the one before.
    ///
    /// ReactiveX: Distinct, in its DistinctUntilChanged form.
    @inlinable public func distinctUntilChanged<Property: Equatable & Sendable>(
        at keyPath: any KeyPath<Element, Property> & Sendable
    ) -> Observable<Element> {
        distinctUntilChanged { $0[keyPath: keyPath] == $1[keyPath: keyPath] }
    }

    /// Leaves out elements whose key `comparer` calls equal to that of the last element sent.
    ///
    /// - Parameters:
    ///   - keySelector: Runs for each element where it arrives. What it throws ends the sequence.
    ///   - comparer: Runs from the second element on. What it throws ends the sequence.
    /// - Returns: The elements whose key is a new one. ReactiveX: Distinct, in its DistinctUntilChanged form.
    @inlinable public func distinctUntilChanged<Key: Sendable>(
        _ keySelector: @escaping @Sendable (Element) throws -> Key,
        comparer: @escaping @Sendable (_ lhs: Key, _ rhs: Key) throws -> Bool
    ) -> Observable<Element> {
        let source = asObservable()
        return Observable { sink in
            let last = Cell<Key?>(nil)
            source.attach(
                Sink(sink.lifetime) { event in
                    if case .next(let element) = event {
                        do {
                            let key = try keySelector(element)
                            if let last = last.value, try comparer(last, key) { return }
                            last.value = key
                        } catch { return sink.on(.error(error)) }
                    }
                    sink.on(event)
                })
        }
    }
}
