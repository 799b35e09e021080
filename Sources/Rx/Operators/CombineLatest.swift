extension ObservableType {
    /// Combines the latest elements of several sequences whenever one of them sends.
    ///
    /// - Parameters:
    ///   - source: The sequences, subscribed to in order; of any number and of different elements.
    ///   - resultSelector: Runs where an element arrives, once each sequence has sent one. What it throws ends the sequence.
    /// - Returns: What it made of them. Completes once all have, or nothing more can come of those that haven't; fails with
    ///   the first that does. ReactiveX: CombineLatest.
    @inlinable public static func combineLatest<each Source: ObservableType>(
        _ source: repeat each Source,
        resultSelector: @escaping @Sendable (repeat (each Source).Element) throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let input = (repeat inputs.add(each source))
            return { try resultSelector(repeat (each input).take()) }
        }
    }

    /// Combines the latest elements of many sequences whenever one of them sends.
    ///
    /// - Parameters:
    ///   - collection: The sequences, subscribed to in order; without any there is one result.
    ///   - resultSelector: Gets the elements in the order of the sequences; see ``combineLatest(_:resultSelector:)``.
    /// - Returns: What it made of them; ends as ``combineLatest(_:resultSelector:)``. ReactiveX: CombineLatest.
    @inlinable public static func combineLatest<Sources: Collection>(
        _ collection: Sources,
        resultSelector: @escaping @Sendable ([Sources.Element.Element]) throws -> Element
    ) -> Observable<Element> where Sources.Element: ObservableType {
        let sources = collection.map { $0.asObservable() }
        return combining(.latest) { inputs in
            let all = sources.map { inputs.add($0) }
            return { try resultSelector(all.map { $0.take() }) }
        }
    }

    /// The latest elements of many sequences, whenever one of them sends; see ``combineLatest(_:resultSelector:)``.
    @inlinable public static func combineLatest<Sources: Collection>(
        _ collection: Sources
    ) -> Observable<[Element]> where Sources.Element: ObservableType, Sources.Element.Element == Element {
        Observable<[Element]>.combineLatest(collection) { $0 }
    }
}

extension ObservableType where Element == any Sendable {
    /// The latest elements of several sequences as a tuple; see ``combineLatest(_:resultSelector:)``.
    @inlinable public static func combineLatest<each Source: ObservableType>(
        _ source: repeat each Source
    ) -> Observable<(repeat (each Source).Element)> {
        Observable<(repeat (each Source).Element)>.combineLatest(repeat each source) {
            (element: repeat (each Source).Element) in (repeat each element)
        }
    }
}
