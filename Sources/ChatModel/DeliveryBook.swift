public import Identity

/// By how many of those whom a message was for it is known to be stored.
public struct DeliveryCount: Hashable, Sendable {
    public var stored: Int
    public var members: Int

    public init(stored: Int, members: Int) {
        self.stored = stored
        self.members = members
    }
}

/// For whom each own event was, and who is known to have stored what.
public struct DeliveryBook: Sendable {
    /// From a number on, those whom a log's events are for.
    public struct Roster: Hashable, Sendable {
        public var first: UInt64
        public var members: [PeerID]

        public init(first: UInt64, members: [PeerID]) {
            self.first = first
            self.members = members
        }
    }

    /// Ascending.
    private var rosters: [LogID: [Roster]] = [:]
    private var holdings: [LogID: [PeerID: [ClosedRange<UInt64>]]] = [:]

    public init() {}

    /// Whom a log's events are for from a number on.
    public mutating func enroll(_ members: [PeerID], in log: LogID, from number: UInt64) {
        rosters[log, default: []].removeAll { $0.first >= number }
        rosters[log, default: []].append(Roster(first: number, members: members))
    }

    /// What a peer has of a log, in place of what was said before.
    public mutating func hold(_ numbers: [ClosedRange<UInt64>], of log: LogID, by peer: PeerID) {
        holdings[log, default: [:]][peer] = numbers.isEmpty ? nil : numbers
    }

    /// Whom an event was for when it was sent; `nil` where nobody took note, as of events of others.
    public func members(at number: UInt64, in log: LogID) -> [PeerID]? {
        rosters[log]?.last { $0.first <= number }?.members
    }

    /// Those who are known to have stored an event.
    public func holders(of number: UInt64, in log: LogID) -> Set<PeerID> {
        Set((holdings[log] ?? [:]).filter { $0.value.contains { $0.contains(number) } }.keys)
    }

    /// By how many an event is stored, of those whom it is for; `nil` where nobody took note of these.
    ///
    /// Who came after it was sent counts only where nobody was there then. `isCounted` leaves out members, such as one who
    /// is blocked now.
    public func count(
        of number: UInt64, in log: LogID, where isCounted: (PeerID) -> Bool = { _ in true }
    ) -> DeliveryCount? {
        guard let all = members(at: number, in: log) else { return nil }
        let holders = holders(of: number, in: log).filter(isCounted)
        if all.isEmpty { return DeliveryCount(stored: holders.count, members: holders.count) }
        let members = all.filter(isCounted)
        return DeliveryCount(stored: members.count { holders.contains($0) }, members: members.count)
    }
}
