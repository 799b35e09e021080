public import Synchronization

extension ObservableType {
    /// Makes a sequence of an element, and leaves out elements until it has completed.
    ///
    /// - Parameter selector: Runs where the element arrives, for those that aren't left out. What it throws ends the
    ///   sequence.
    /// - Returns: The elements of the inner sequences. Completes once the source and the present one have, and fails with
    ///   the first that does. ReactiveX: FlatMap, in its Exhaust form.
    @inlinable public func flatMapFirst<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) throws -> Source
    ) -> Observable<Source.Element> {
        let source = asObservable()
        return Observable { sink in
            let node = FlatMapNode(sink)
            sink.lifetime.own(node.lifetimes)
            source.attach(node.lifetimes.make()) { event in
                switch event {
                case .next(let element):
                    if node.running.load(ordering: .acquiring) > 1 { return }
                    do { node.start(try selector(element).asObservable()) } catch { node.on(.error(error)) }
                case .error(let error): node.on(.error(error))
                case .completed: node.on(.completed)
                }
            }
        }
    }
}
