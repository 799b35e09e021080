extension InfallibleType {
    /// Makes a sequence of each element, and sends the elements of all as they come.
    ///
    /// An inner sequence must not fail: it would break this one's promise. So for those below.
    public func flatMap<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) -> Source
    ) -> Infallible<Source.Element> {
        Infallible<Source.Element>(asObservable().flatMap(selector))
    }

    /// Makes a sequence of each element, and sends the elements of the latest one.
    public func flatMapLatest<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) -> Source
    ) -> Infallible<Source.Element> {
        Infallible<Source.Element>(asObservable().flatMapLatest(selector))
    }

    /// Makes a sequence of an element, and leaves out elements until it has completed.
    public func flatMapFirst<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) -> Source
    ) -> Infallible<Source.Element> {
        Infallible<Source.Element>(asObservable().flatMapFirst(selector))
    }

    /// Makes a sequence of each element, and sends their elements, one sequence after the other.
    public func concatMap<Source: ObservableConvertibleType>(
        _ selector: @escaping @Sendable (Element) -> Source
    ) -> Infallible<Source.Element> {
        Infallible<Source.Element>(asObservable().concatMap(selector))
    }

    /// Goes on with `second` once this sequence has completed.
    public func concat<Source: ObservableConvertibleType>(_ second: Source) -> Infallible<Element>
    where Source.Element == Element {
        Infallible(asObservable().concat(second.asObservable()))
    }

    /// The elements of all sources, one source after the other.
    public static func concat<Sources: Sequence>(_ sequence: Sources) -> Infallible<Element>
    where Sources.Element == Infallible<Element> {
        Infallible(.concat(sequence.map { $0.source }))
    }

    /// The elements of all sources, one source after the other.
    public static func concat(_ sources: Infallible<Element>...) -> Infallible<Element> { concat(sources) }

    /// The elements of all sources as they come.
    public static func merge<Sources: Collection>(_ sources: Sources) -> Infallible<Element>
    where Sources.Element == Infallible<Element> {
        Infallible(.merge(sources.map { $0.source }))
    }

    /// The elements of all sources as they come.
    public static func merge(_ sources: Infallible<Element>...) -> Infallible<Element> { merge(sources) }

    /// Combines the latest elements of several sequences whenever one of them sends.
    public static func combineLatest<each Source: InfallibleType>(
        _ source: repeat each Source,
        resultSelector: @escaping @Sendable (repeat (each Source).Element) -> Element
    ) -> Infallible<Element> {
        Infallible(.combineLatest(repeat (each source).asObservable(), resultSelector: resultSelector))
    }

    /// Combines the latest elements of many sequences whenever one of them sends.
    public static func combineLatest<Sources: Collection>(
        _ collection: Sources, resultSelector: @escaping @Sendable ([Sources.Element.Element]) -> Element
    ) -> Infallible<Element> where Sources.Element: InfallibleType {
        Infallible(.combineLatest(collection.map { $0.asObservable() }, resultSelector: resultSelector))
    }

    /// The latest elements of many sequences, whenever one of them sends.
    public static func combineLatest<Sources: Collection>(_ collection: Sources) -> Infallible<[Element]>
    where Sources.Element: InfallibleType, Sources.Element.Element == Element {
        Infallible<[Element]>(.combineLatest(collection.map { $0.asObservable() }) { $0 })
    }

    /// Combines the first elements of several sequences, then the second ones, and so on.
    public static func zip<each Other: Sendable>(
        _ source: repeat Infallible<each Other>,
        resultSelector: @escaping @Sendable (repeat each Other) -> Element
    ) -> Infallible<Element> {
        Infallible(.zip(repeat (each source).asObservable(), resultSelector: resultSelector))
    }
}

extension InfallibleType where Element == any Sendable {
    /// The latest elements of several sequences as a tuple.
    public static func combineLatest<each Source: InfallibleType>(
        _ source: repeat each Source
    ) -> Infallible<(repeat (each Source).Element)> {
        Infallible<(repeat (each Source).Element)>.combineLatest(repeat each source) {
            (element: repeat (each Source).Element) in (repeat each element)
        }
    }

    /// The rows of several sequences as tuples.
    public static func zip<each Other: Sendable>(
        _ source: repeat Infallible<each Other>
    ) -> Infallible<(repeat each Other)> {
        Infallible<(repeat each Other)>.zip(repeat each source) { (element: repeat each Other) in
            (repeat each element)
        }
    }
}
