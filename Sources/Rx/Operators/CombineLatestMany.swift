// The general form of `combineLatest` again for two to eight sequences: the compiler specialises these, and not a parameter pack.

extension ObservableType {
    /// Combines the latest elements of two sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable public static func combineLatest<A: ObservableType, B: ObservableType>(
        _ source1: A, _ source2: B,
        resultSelector: @escaping @Sendable (A.Element, B.Element) throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2)
            return { try resultSelector(a.take(), b.take()) }
        }
    }

    /// Combines the latest elements of three sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable public static func combineLatest<A: ObservableType, B: ObservableType, C: ObservableType>(
        _ source1: A, _ source2: B, _ source3: C,
        resultSelector: @escaping @Sendable (A.Element, B.Element, C.Element) throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2), c = inputs.add(source3)
            return { try resultSelector(a.take(), b.take(), c.take()) }
        }
    }

    /// Combines the latest elements of four sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable
    public static func combineLatest<A: ObservableType, B: ObservableType, C: ObservableType, D: ObservableType>(
        _ source1: A, _ source2: B, _ source3: C, _ source4: D,
        resultSelector: @escaping @Sendable (A.Element, B.Element, C.Element, D.Element) throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2), c = inputs.add(source3), d = inputs.add(source4)
            return { try resultSelector(a.take(), b.take(), c.take(), d.take()) }
        }
    }

    /// Combines the latest elements of five sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable
    public static func combineLatest<
        A: ObservableType, B: ObservableType, C: ObservableType, D: ObservableType, E: ObservableType
    >(
        _ source1: A, _ source2: B, _ source3: C, _ source4: D, _ source5: E,
        resultSelector: @escaping @Sendable (A.Element, B.Element, C.Element, D.Element, E.Element) throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2), c = inputs.add(source3), d = inputs.add(source4),
                e = inputs.add(source5)
            return { try resultSelector(a.take(), b.take(), c.take(), d.take(), e.take()) }
        }
    }

    /// Combines the latest elements of six sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable
    public static func combineLatest<
        A: ObservableType, B: ObservableType, C: ObservableType, D: ObservableType, E: ObservableType, F: ObservableType
    >(
        _ source1: A, _ source2: B, _ source3: C, _ source4: D, _ source5: E, _ source6: F,
        resultSelector:
            @escaping @Sendable (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element) throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2), c = inputs.add(source3), d = inputs.add(source4),
                e = inputs.add(source5), f = inputs.add(source6)
            return { try resultSelector(a.take(), b.take(), c.take(), d.take(), e.take(), f.take()) }
        }
    }

    /// Combines the latest elements of seven sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable
    public static func combineLatest<
        A: ObservableType, B: ObservableType, C: ObservableType, D: ObservableType, E: ObservableType,
        F: ObservableType, G: ObservableType
    >(
        _ source1: A, _ source2: B, _ source3: C, _ source4: D, _ source5: E, _ source6: F, _ source7: G,
        resultSelector:
            @escaping @Sendable (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element, G.Element) throws ->
            Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2), c = inputs.add(source3), d = inputs.add(source4),
                e = inputs.add(source5), f = inputs.add(source6), g = inputs.add(source7)
            return { try resultSelector(a.take(), b.take(), c.take(), d.take(), e.take(), f.take(), g.take()) }
        }
    }

    /// Combines the latest elements of eight sequences; see ``combineLatest(_:resultSelector:)``.
    @inlinable
    public static func combineLatest<
        A: ObservableType, B: ObservableType, C: ObservableType, D: ObservableType, E: ObservableType,
        F: ObservableType, G: ObservableType, H: ObservableType
    >(
        _ source1: A, _ source2: B, _ source3: C, _ source4: D, _ source5: E, _ source6: F, _ source7: G, _ source8: H,
        resultSelector:
            @escaping @Sendable (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element, G.Element, H.Element)
            throws -> Element
    ) -> Observable<Element> {
        combining(.latest) { inputs in
            let a = inputs.add(source1), b = inputs.add(source2), c = inputs.add(source3), d = inputs.add(source4),
                e = inputs.add(source5), f = inputs.add(source6), g = inputs.add(source7), h = inputs.add(source8)
            return {
                try resultSelector(a.take(), b.take(), c.take(), d.take(), e.take(), f.take(), g.take(), h.take())
            }
        }
    }
}
