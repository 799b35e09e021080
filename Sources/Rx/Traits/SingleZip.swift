extension PrimitiveSequenceType where Trait == SingleTrait {
    /// Combines the elements of several singles.
    ///
    /// - Parameters:
    ///   - source: The singles, subscribed to in order.
    ///   - resultSelector: Runs once all have their element. What it throws is the error.
    /// - Returns: What it made of them; fails with the first that does. ReactiveX: Zip.
    public static func zip<each Other: Sendable>(
        _ source: repeat Single<each Other>,
        resultSelector: @escaping @Sendable (repeat each Other) throws -> Element
    ) -> Single<Element> {
        Single(Observable<Element>.zip(repeat (each source).asObservable(), resultSelector: resultSelector))
    }

    /// Combines the elements of many singles; see ``zip(_:resultSelector:)``.
    public static func zip<Sources: Collection, Result: Sendable>(
        _ collection: Sources, resultSelector: @escaping @Sendable ([Element]) throws -> Result
    ) -> Single<Result> where Sources.Element == Single<Element> {
        if collection.isEmpty { return Single<Result>.deferred { .just(try resultSelector([])) } }
        return Single<Result>(
            Observable<Result>.zip(collection.map { $0.asObservable() }, resultSelector: resultSelector))
    }

    /// The elements of many singles, in their order; see ``zip(_:resultSelector:)``.
    public static func zip<Sources: Collection>(_ collection: Sources) -> Single<[Element]>
    where Sources.Element == Single<Element> { zip(collection) { $0 } }
}

extension PrimitiveSequenceType where Trait == SingleTrait, Element == any Sendable {
    /// The elements of several singles as a tuple; see ``zip(_:resultSelector:)``.
    public static func zip<each Other: Sendable>(
        _ source: repeat Single<each Other>
    ) -> Single<(repeat each Other)> {
        Single<(repeat each Other)>.zip(repeat each source) { (element: repeat each Other) in (repeat each element) }
    }
}

extension PrimitiveSequenceType where Trait == MaybeTrait {
    /// Combines the elements of several maybes.
    ///
    /// - Parameters:
    ///   - source: The maybes, subscribed to in order.
    ///   - resultSelector: Runs once all have their element. What it throws is the error.
    /// - Returns: What it made of them, or nothing if one of them is empty; fails with the first that does.
    ///   ReactiveX: Zip.
    public static func zip<each Other: Sendable>(
        _ source: repeat Maybe<each Other>,
        resultSelector: @escaping @Sendable (repeat each Other) throws -> Element
    ) -> Maybe<Element> {
        Maybe(Observable<Element>.zip(repeat (each source).asObservable(), resultSelector: resultSelector))
    }
}

extension PrimitiveSequenceType where Trait == MaybeTrait, Element == any Sendable {
    /// The elements of several maybes as a tuple; see ``zip(_:resultSelector:)``.
    public static func zip<each Other: Sendable>(
        _ source: repeat Maybe<each Other>
    ) -> Maybe<(repeat each Other)> {
        Maybe<(repeat each Other)>.zip(repeat each source) { (element: repeat each Other) in (repeat each element) }
    }
}
