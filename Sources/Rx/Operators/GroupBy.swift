/// The elements of a sequence that have a key in common.
public struct GroupedObservable<Key: Sendable, Element: Sendable>: ObservableType {
    /// What they have in common.
    public let key: Key

    private let source: Observable<Element>

    /// Gives a sequence a key.
    public init(key: Key, source: Observable<Element>) {
        self.key = key
        self.source = source
    }

    /// Subscribes an observer; see ``ObservableType``.
    public func subscribe<Observer: ObserverType>(_ observer: Observer) -> any Disposable
    where Observer.Element == Element { source.subscribe(observer) }

    /// The same as an ``Observable``.
    public func asObservable() -> Observable<Element> { source }
}

extension ObservableType {
    /// Hands the elements on in one sequence for each key.
    ///
    /// - Parameter keySelector: Runs where the element arrives. What it throws ends all sequences.
    /// - Returns: A group at the first element of its key; the source's ending ends all groups and the result. There is no
    ///   limit to the number of groups, each of which stays until then. A group sends what comes while it is subscribed
    ///   to, its first element to who subscribes inside `onNext`. The source is let go of when the result and all groups
    ///   have been. ReactiveX: GroupBy.
    @inlinable public func groupBy<Key: Hashable & Sendable>(
        keySelector: @escaping @Sendable (Element) throws -> Key
    ) -> Observable<GroupedObservable<Key, Element>> {
        let source = asObservable()
        return Observable<GroupedObservable<Key, Element>> { sink in
            let lifetime = Lifetime()
            let shared = RefCountDisposable(disposable: lifetime)
            sink.lifetime.own(shared)
            let groups = Cell<[Key: PublishSubject<Element>]>([:])
            let end = { @Sendable (ending: Event<Element>) in
                for group in exchange(&groups.value, with: [:]).values { group.on(ending) }
                if !sink.lifetime.isStopped { sink.on(ending.error.map { .error($0) } ?? .completed) }
            }
            source.attach(lifetime) { event in
                guard case .next(let element) = event else { return end(event) }
                do {
                    let key = try keySelector(element)
                    if let group = groups.value[key] { return group.on(event) }
                    let group = PublishSubject<Element>()
                    groups.value[key] = group
                    if !sink.lifetime.isStopped {
                        sink.on(.next(GroupedObservable(key: key, source: group.keeping(shared))))
                    }
                    group.on(event)
                } catch {
                    end(.error(error))
                    lifetime.dispose()
                }
            }
        }
    }
}
