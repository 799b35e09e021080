import Addressing

/// How many connections may be in their opening at once, in all and from one place.
///
/// Pure. An address of ours counts in the total only, so that a crowd of processes on one host can't lock each other out
/// (docs/protocol.md, "Gates").
struct Gate: Sendable {
    /// A place that is counted: one address, or an IPv6 network.
    fileprivate enum Place: Hashable {
        case address(IPAddress)
        case prefix(UInt64)
        case linkLocal
    }

    private let limits: TransportLimits
    private(set) var total = 0
    private var counts: [Place: Int] = [:]

    init(_ limits: TransportLimits) { self.limits = limits }

    /// Lets a connection in, to be counted until ``leave(_:)``.
    ///
    /// - Returns: What it counts as, or `nil` if there are too many already.
    mutating func enter(_ address: IPAddress, networks: LocalNetworks) -> Ticket? {
        guard total < limits.unauthenticated else { return nil }
        let places = networks.isOwn(address) ? [] : self.places(of: address.withoutScope, networks: networks)
        guard places.allSatisfy({ counts[$0.place, default: 0] < $0.limit }) else { return nil }
        total += 1
        for place in places { counts[place.place, default: 0] += 1 }
        return Ticket(places: places.map(\.place))
    }

    mutating func leave(_ ticket: Ticket) {
        total -= 1
        for place in ticket.places {
            let rest = counts[place, default: 1] - 1
            counts[place] = rest == 0 ? nil : rest
        }
    }

    /// What one connection was counted as: interfaces may change meanwhile.
    struct Ticket: Sendable {
        fileprivate let places: [Place]
    }

    private func places(of address: IPAddress, networks: LocalNetworks) -> [(place: Place, limit: Int)] {
        let itself = (place: Place.address(address), limit: limits.unauthenticatedPerAddress)
        guard case .v6(let high, _, _) = address else { return [itself] }
        if address.isLinkLocalV6 { return [itself, (.linkLocal, limits.unauthenticatedOnLink)] }
        let isOnLink = networks.prefixes.contains(high)
        return [itself, (.prefix(high), isOnLink ? limits.unauthenticatedOnLink : limits.unauthenticatedOffLink)]
    }
}

/// Says which refusals are worth a line in the log: one of a kind from one address an interval.
struct RefusalLog: Sendable {
    private static let most = 256
    private let interval: Duration
    private var told: [String: Instant] = [:]

    init(interval: Duration) { self.interval = interval }

    mutating func isNews(_ reason: String, from address: IPAddress?, now: Instant) -> Bool {
        let key = "\(address.map(String.init(describing:)) ?? "") \(reason)"
        if let last = told[key], now - last < interval { return false }
        if told.count >= Self.most {
            told = told.filter { now - $0.value < interval }
            if told.count >= Self.most { return false }
        }
        told[key] = now
        return true
    }
}
