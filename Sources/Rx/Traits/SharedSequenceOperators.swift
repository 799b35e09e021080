// Closures run on the sequence's scheduler and can't throw, so that what comes out doesn't fail either.

extension SharedSequence {
    /// One element, sent on `scheduler`.
    public static func just(_ element: Element, on scheduler: any SchedulerType = MainScheduler.instance) -> Self {
        Self(.just(element), on: scheduler)
    }

    /// Nothing but a completion.
    public static func empty(on scheduler: any SchedulerType = MainScheduler.instance) -> Self {
        Self(.empty(), on: scheduler)
    }

    /// Nothing ever.
    public static func never(on scheduler: any SchedulerType = MainScheduler.instance) -> Self {
        Self(.never(), on: scheduler)
    }

    /// Makes something of each element; see ``ObservableType/map(_:)``.
    public func map<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) -> Result
    ) -> SharedSequence<Strategy, Result> { derive { $0.map(transform) } }

    /// Keeps what isn't `nil`; see ``ObservableType/compactMap(_:)``.
    public func compactMap<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) -> Result?
    ) -> SharedSequence<Strategy, Result> { derive { $0.compactMap(transform) } }

    /// Keeps what satisfies `predicate`.
    public func filter(_ predicate: @escaping @Sendable (Element) -> Bool) -> Self { derive { $0.filter(predicate) } }

    /// Folds the elements, and sends every result on the way; see ``ObservableType/scan(_:accumulator:)``.
    public func scan<Result: Sendable>(
        _ seed: Result, accumulator: @escaping @Sendable (Result, Element) -> Result
    ) -> SharedSequence<Strategy, Result> { derive { $0.scan(seed, accumulator: accumulator) } }

    /// Sends `element` first.
    public func startWith(_ element: Element) -> Self { derive { $0.startWith(element) } }

    /// Leaves out elements equal to the one before.
    public func distinctUntilChanged() -> Self where Element: Equatable { derive { $0.distinctUntilChanged() } }

    /// Leaves out elements whose key equals that of the one before.
    public func distinctUntilChanged<Key: Equatable & Sendable>(
        _ keySelector: @escaping @Sendable (Element) -> Key
    ) -> Self { derive { $0.distinctUntilChanged(keySelector) } }

    /// Does something beside for each element.
    public func `do`(onNext: @escaping @Sendable (Element) -> Void) -> Self { derive { $0.do(onNext: onNext) } }

    /// Sends an element once none has followed it for so long.
    public func debounce(_ dueTime: RxTimeInterval) -> Self {
        derive { $0.debounce(dueTime, scheduler: scheduler) }
    }

    /// Sends at most one element in so long a time.
    public func throttle(_ dueTime: RxTimeInterval, latest: Bool = true) -> Self {
        derive { $0.throttle(dueTime, latest: latest, scheduler: scheduler) }
    }

    /// Sends everything so much later.
    public func delay(_ dueTime: RxTimeInterval) -> Self { derive { $0.delay(dueTime, scheduler: scheduler) } }

    /// Makes a sequence of each element, and sends the elements of all; see ``ObservableType/flatMap(_:)``.
    public func flatMap<Kind: SharingStrategyProtocol, Result: Sendable>(
        _ selector: @escaping @Sendable (Element) -> SharedSequence<Kind, Result>
    ) -> SharedSequence<Strategy, Result> { derive { $0.flatMap { here(selector($0)) } } }

    /// Makes a sequence of each element, and sends those of the latest; see ``ObservableType/flatMapLatest(_:)``.
    public func flatMapLatest<Kind: SharingStrategyProtocol, Result: Sendable>(
        _ selector: @escaping @Sendable (Element) -> SharedSequence<Kind, Result>
    ) -> SharedSequence<Strategy, Result> { derive { $0.flatMapLatest { here(selector($0)) } } }

    /// Makes a sequence of an element unless one is under way; see ``ObservableType/flatMapFirst(_:)``.
    public func flatMapFirst<Kind: SharingStrategyProtocol, Result: Sendable>(
        _ selector: @escaping @Sendable (Element) -> SharedSequence<Kind, Result>
    ) -> SharedSequence<Strategy, Result> { derive { $0.flatMapFirst { here(selector($0)) } } }

    /// Combines each element with the latest one of another sequence.
    public func withLatestFrom<Kind: SharingStrategyProtocol, Other: Sendable, Result: Sendable>(
        _ second: SharedSequence<Kind, Other>,
        resultSelector: @escaping @Sendable (Element, Other) -> Result
    ) -> SharedSequence<Strategy, Result> {
        derive { $0.withLatestFrom(here(second), resultSelector: resultSelector) }
    }

    /// The latest element of another sequence for each element of this one.
    public func withLatestFrom<Kind: SharingStrategyProtocol, Other: Sendable>(
        _ second: SharedSequence<Kind, Other>
    ) -> SharedSequence<Strategy, Other> { withLatestFrom(second) { $1 } }

    /// The elements of all sequences as they come, on the first one's scheduler.
    public static func merge(_ first: Self, _ others: Self...) -> Self {
        Self(.merge([first.source] + others.map { first.here($0) }), on: first.scheduler)
    }

    /// Combines the latest elements of two sequences, on the first one's scheduler.
    public static func combineLatest<A: Sendable, B: Sendable>(
        _ a: SharedSequence<Strategy, A>, _ b: SharedSequence<Strategy, B>,
        resultSelector: @escaping @Sendable (A, B) -> Element
    ) -> Self {
        Self(.combineLatest(a.source, a.here(b), resultSelector: resultSelector), on: a.scheduler)
    }

    /// Combines the latest elements of three sequences, on the first one's scheduler.
    public static func combineLatest<A: Sendable, B: Sendable, C: Sendable>(
        _ a: SharedSequence<Strategy, A>, _ b: SharedSequence<Strategy, B>, _ c: SharedSequence<Strategy, C>,
        resultSelector: @escaping @Sendable (A, B, C) -> Element
    ) -> Self {
        Self(.combineLatest(a.source, a.here(b), a.here(c), resultSelector: resultSelector), on: a.scheduler)
    }

    /// Another sequence, brought to this one's scheduler if it isn't there already.
    func here<Kind: SharingStrategyProtocol, Other: Sendable>(
        _ other: SharedSequence<Kind, Other>
    ) -> Observable<Other> {
        let (mine, its) = (scheduler as AnyObject, other.scheduler as AnyObject)
        return mine === its ? other.source : other.asObservable().observe(on: scheduler)
    }
}
