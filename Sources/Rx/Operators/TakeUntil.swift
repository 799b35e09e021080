extension ObservableType {
    /// Completes as soon as `other` sends an element.
    ///
    /// - Parameter other: Subscribed to before the source. Its error ends the sequence too; its completion doesn't.
    /// - Returns: The elements until then; ends with the source if that ends first. ReactiveX: TakeUntil.
    @inlinable public func take<Source: ObservableType>(until other: Source) -> Observable<Element> {
        let source = asObservable(), trigger = other.asObservable()
        return Observable { sink in
            let node = MergeNode(sink, sources: 1)
            let lifetime = Lifetime(), triggering = Lifetime()
            sink.lifetime.own(Disposables.create([lifetime, triggering]))
            trigger.attach(
                Sink(triggering) { event in
                    triggering.admit(event) { event in
                        switch event {
                        case .next: node.on(.completed)
                        case .error(let error): node.on(.error(error))
                        case .completed: break
                        }
                    }
                })
            if lifetime.isStopped { return }
            source.attach(Sink(lifetime) { event in lifetime.admit(event) { node.on($0) } })
        }
    }
}
