extension ObservableType {
    /// Combines the first elements of several sequences, then the second ones, and so on.
    ///
    /// - Parameters:
    ///   - source: The sequences, subscribed to in order; of any number and of different elements.
    ///   - resultSelector: Runs where the last element of a row arrives. What it throws ends the sequence.
    /// - Returns: What it made of them. What a sequence is ahead of the others is kept in memory, in any number. Completes
    ///   once all have; fails with the first that does. ReactiveX: Zip.
    @inlinable public static func zip<each Source: ObservableType>(
        _ source: repeat each Source,
        resultSelector: @escaping @Sendable (repeat (each Source).Element) throws -> Element
    ) -> Observable<Element> {
        combining(.zip) { inputs in
            let input = (repeat inputs.add(each source))
            return { try resultSelector(repeat (each input).take()) }
        }
    }

    /// Combines the first elements of many sequences, then the second ones, and so on.
    ///
    /// - Parameters:
    ///   - collection: The sequences, subscribed to in order; without any the result completes at once.
    ///   - resultSelector: Gets the elements in the order of the sequences; see ``zip(_:resultSelector:)``.
    /// - Returns: What it made of them; ends as ``zip(_:resultSelector:)``, and also once a sequence has completed and
    ///   another one is ahead of it. ReactiveX: Zip.
    @inlinable public static func zip<Sources: Collection>(
        _ collection: Sources,
        resultSelector: @escaping @Sendable ([Sources.Element.Element]) throws -> Element
    ) -> Observable<Element> where Sources.Element: ObservableType {
        let sources = collection.map { $0.asObservable() }
        return combining(.collectionZip) { inputs in
            let all = sources.map { inputs.add($0) }
            return { try resultSelector(all.map { $0.take() }) }
        }
    }

    /// The first elements of many sequences, then the second ones, and so on; see ``zip(_:resultSelector:)``.
    @inlinable public static func zip<Sources: Collection>(
        _ collection: Sources
    ) -> Observable<[Element]> where Sources.Element: ObservableType, Sources.Element.Element == Element {
        Observable<[Element]>.zip(collection) { $0 }
    }
}

extension ObservableType where Element == any Sendable {
    /// The rows of several sequences as tuples; see ``zip(_:resultSelector:)``.
    @inlinable public static func zip<each Source: ObservableType>(
        _ source: repeat each Source
    ) -> Observable<(repeat (each Source).Element)> {
        Observable<(repeat (each Source).Element)>.zip(repeat each source) {
            (element: repeat (each Source).Element) in (repeat each element)
        }
    }
}
