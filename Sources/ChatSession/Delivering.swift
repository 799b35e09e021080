public import ChatModel
import Dispatch
import History
public import Identity
public import Rx

/// Who is known to have stored a message.
public struct Delivery: Hashable, Sendable {
    /// One of the others.
    public struct Part: Hashable, Sendable {
        public var peer: PeerID
        public var name: String
        public var isStored: Bool
        /// Whether the message was for it when it was sent; else it came later.
        public var isMember: Bool
        public var state: PeerStatus.State
        /// Since when it stands so, or when it was seen last; milliseconds since 1970, 0 where nobody knows.
        public var since: UInt64
    }

    public var id: EventID
    public var author: PeerID
    /// Whether others tell this host whenever they store it: only an author is told.
    public var isOwn: Bool
    public var count: DeliveryCount
    /// Members first, each in the order of their keys.
    public var parts: [Part]
}

extension SessionContainer {
    /// Who is known to have stored an event; waits for the disk.
    ///
    /// An own event was for those who were members when it was sent, another's is taken to be for those who are now.
    ///
    /// - Throws: ``SessionError/unknownLine(_:)``.
    public func delivery(of id: EventID) throws -> Delivery {
        try delivery(at: place(of: id), id, among: knownPeers)
    }

    /// How an event's delivery stands now, and whenever more becomes known.
    ///
    /// Cold; never ends by itself. Fails with ``SessionError/unknownLine(_:)``.
    public func deliveries(of id: EventID) -> Observable<Delivery> {
        .create { [self] observer in
            let subscription = SerialDisposable()
            parts.history.queue.async { [self] in
                guard let line = parts.history.line(id) else {
                    return observer.onError(SessionError.unknownLine(id))
                }
                let known = parts.history.knownPeers()
                subscription.disposable = ledger.looks(at: line.log) { [self] in
                    delivery(at: (line.log, line.number), id, among: known)
                }
                .distinctUntilChanged().subscribe(observer)
            }
            return subscription
        }
    }

    private func place(of id: EventID) throws -> (LogID, UInt64) {
        guard let line = parts.history.queue.sync(execute: { parts.history.line(id) }) else {
            throw SessionError.unknownLine(id)
        }
        return (line.log, line.number)
    }

    private func delivery(at place: (log: LogID, number: UInt64), _ id: EventID, among known: [KnownPeer]) -> Delivery {
        let seen = peers.reduce(into: [:]) { $0[$1.peer] = $1 }
        let records = known.reduce(into: [:]) { $0[$1.peer] = $1.record }
        let (members, holders) = ledger.withBook { book in
            (book.members(at: place.number, in: place.log), book.holders(of: place.number, in: place.log))
        }
        let blocked = Set(records.filter { $0.value.verdict == .blocked }.keys)
            .union(seen.filter { $0.value.record?.verdict == .blocked }.keys)
        let author = place.log.author
        let audience = Set(members ?? membersNow(seen, records)).subtracting(blocked)
        let stored = holders.union(author == peer ? [] : [author]).subtracting(blocked).subtracting([peer])
        let parts = audience.union(stored).sorted().map { other in
            Delivery.Part(
                peer: other, name: name(of: other, seen[other], records[other]), isStored: stored.contains(other),
                isMember: audience.contains(other), state: seen[other]?.state ?? .away,
                since: seen[other].map { $0.state == .away ? $0.record?.lastSeen ?? $0.since : $0.since }
                    ?? records[other]?.lastSeen ?? 0)
        }
        let counted = audience.isEmpty ? stored : audience
        return Delivery(
            id: id, author: author, isOwn: author == peer,
            count: DeliveryCount(stored: counted.count { stored.contains($0) }, members: counted.count),
            parts: parts.filter(\.isMember) + parts.filter { !$0.isMember })
    }

    private func membersNow(_ seen: [PeerID: PeerStatus], _ records: [PeerID: PeerRecord]) -> [PeerID] {
        let since = Clock.wall - min(Clock.wall, RoomLimits().memberPeriod)
        let linked = seen.filter { $0.value.state == .connected }.keys
        return Array(Set(linked).union(records.filter { $0.value.isMet && $0.value.lastSeen >= since }.keys))
    }

    private func name(of other: PeerID, _ seen: PeerStatus?, _ record: PeerRecord?) -> String {
        let names = [seen?.name, record?.name, ledger.name(of: other)].compactMap(\.self)
        return names.first { !$0.isEmpty } ?? other.suffix
    }
}
