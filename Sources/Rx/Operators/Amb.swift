public import Synchronization

extension ObservableType {
    /// Lets the sequence win that sends an event first, even if that is its ending.
    ///
    /// - Parameter right: The other one; subscribed to second.
    /// - Returns: The events of the winner; the other one is let go of. ReactiveX: Amb.
    @inlinable public func amb<Other: ObservableType>(_ right: Other) -> Observable<Element>
    where Other.Element == Element {
        .amb([asObservable(), right.asObservable()])
    }

    /// Lets the sequence win that sends an event first, even if that is its ending.
    ///
    /// - Parameter sequence: The competitors, subscribed to in order.
    /// - Returns: The events of the winner; the others are let go of. Of no competitors: never ends. ReactiveX: Amb.
    @inlinable public static func amb<Sources: Sequence>(_ sequence: Sources) -> Observable<Element>
    where Sources.Element == Observable<Element> {
        let sources = Array(sequence)
        return Observable { sink in
            let lifetimes = sources.map { _ in Lifetime() }
            let race = AmbRace(lifetimes)
            sink.lifetime.own(Disposables.create(lifetimes))
            for (number, source) in sources.enumerated() where !lifetimes[number].isStopped {
                source.attach(lifetimes[number]) { if race.isWon(by: number) { sink.on($0) } }
            }
        }
    }
}

@usableFromInline final class AmbRace: Sendable {
    @usableFromInline let winner = Atomic<Int>(-1)
    @usableFromInline let lifetimes: [Lifetime]

    @inlinable init(_ lifetimes: [Lifetime]) { self.lifetimes = lifetimes }

    /// The first to ask wins, and the others are let go of.
    @inlinable func isWon(by number: Int) -> Bool {
        let present = winner.load(ordering: .acquiring)
        if present >= 0 { return present == number }
        let (isFirst, other) = winner.compareExchange(
            expected: -1, desired: number, ordering: .acquiringAndReleasing)
        if isFirst { for (index, lifetime) in lifetimes.enumerated() where index != number { lifetime.dispose() } }
        return isFirst || other == number
    }
}
