import Addressing

/// Which connections are let in, before anything is computed for them.
///
/// Pure: addresses and the time in, a place or a refusal out (docs/protocol.md, "Gates"). An address of ours counts in the
/// total only and is never barred, so that a crowd of processes on one host can't lock each other out.
struct Gate: Sendable {
    /// Why a connection isn't let in.
    enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Too many are in their opening, in all or from there.
        case crowded
        /// It comes from beyond our own links, and nobody known or hinted is there.
        case offLink
        /// Too many from there have failed.
        case barred

        var description: String {
            switch self {
            case .crowded: "too many connections that haven't said who they are"
            case .offLink: "not on a network of ours; --peer or --routed would let it in"
            case .barred: "too many failed connections from there"
            }
        }
    }

    /// A place that is counted: one address, or an IPv6 network.
    fileprivate enum Place: Hashable {
        case address(IPAddress)
        case prefix(UInt64)
        case linkLocal
    }

    private let limits: TransportLimits
    private(set) var total = 0
    private var counts: [Place: Int] = [:]
    private var known: KnownAddresses
    private var hinted: KnownAddresses
    private var offences: Offences

    init(_ limits: TransportLimits) {
        self.limits = limits
        known = KnownAddresses(limit: limits.knownAddresses)
        hinted = KnownAddresses(limit: limits.hintedAddresses)
        offences = Offences(limits)
    }

    /// Lets a connection in, to be counted until ``leave(_:)``.
    ///
    /// - Parameters:
    ///   - address: Where it comes from.
    ///   - networks: Ours.
    ///   - chance: From 0 up to 1, another for each connection: strangers are refused early by it (RED, as sshd's
    ///     MaxStartups does).
    ///   - now: The time.
    /// - Returns: What it counts as.
    /// - Throws: Why it isn't let in.
    mutating func enter(
        _ address: IPAddress, networks: LocalNetworks, chance: Double, now: Instant
    ) throws(Refusal) -> Ticket {
        let address = address.withoutScope
        let isOwn = networks.isOwn(address)
        // Else another user of this host could take what is kept for peers.
        let isKnown = !isOwn && known.contains(address)
        let isNear = isOwn || isKnown || networks.isOnLink(address)
        guard isNear || limits.takesRouted || hinted.contains(address) else { throw .offLink }
        if !isOwn, offences.isBarred(address, now: now) { throw .barred }
        guard total < limits.unauthenticated, isKnown || !isDropped(chance) else { throw .crowded }
        let places = isOwn ? [] : self.places(of: address, networks: networks)
        guard places.allSatisfy({ counts[$0.place, default: 0] < $0.limit }) else { throw .crowded }
        total += 1
        for place in places { counts[place.place, default: 0] += 1 }
        return Ticket(address: isOwn ? nil : address, isKnown: isKnown, places: places.map(\.place))
    }

    /// Whether a stranger has no luck: never below where that begins, always where only what is reserved is left.
    private func isDropped(_ chance: Double) -> Bool {
        let end = limits.unauthenticated - limits.reservedForKnown
        if total >= end { return true }
        let begin = min(limits.earlyDrop, end)
        return total >= begin && chance < Double(total - begin + 1) / Double(end - begin + 1)
    }

    mutating func leave(_ ticket: Ticket) {
        total -= 1
        for place in ticket.places {
            let rest = counts[place, default: 1] - 1
            counts[place] = rest == 0 ? nil : rest
        }
    }

    /// Notes that a connection failed in its opening by what its other end did.
    mutating func failed(_ ticket: Ticket, now: Instant) {
        if let address = ticket.address { offences.note(address, isKnown: known.contains(address), now: now) }
    }

    /// Notes addresses that peers are or may be at: they go first from now on.
    mutating func know(_ addresses: some Sequence<IPAddress>) {
        for address in addresses { known.insert(address.withoutScope) }
    }

    /// Notes addresses at which members say that somebody is: they are let in from wherever they are, and no more.
    mutating func hint(_ addresses: some Sequence<IPAddress>) {
        for address in addresses { hinted.insert(address.withoutScope) }
    }

    /// Notes that a peer has a link at an address.
    mutating func met(at address: IPAddress) {
        known.insert(address.withoutScope)
        offences.forgive(address.withoutScope)
    }

    /// What one connection was counted as: interfaces may change meanwhile.
    struct Ticket: Sendable {
        /// `nil` for one of ours.
        fileprivate let address: IPAddress?
        /// Whether a peer is or was there.
        let isKnown: Bool
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

/// The addresses that peers are or were at, the oldest forgotten first.
struct KnownAddresses: Sendable {
    private let limit: Int
    private var last: [IPAddress: UInt64] = [:]
    private var count: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    func contains(_ address: IPAddress) -> Bool { last[address] != nil }

    mutating func insert(_ address: IPAddress) {
        count += 1
        last[address] = count
        guard last.count > limit, let oldest = last.min(by: { $0.value < $1.value })?.key else { return }
        last[oldest] = nil
    }
}

/// Who has failed to open a connection too often of late, and for how long nothing of it is taken.
///
/// Failures leak away, one every ``TransportLimits/failureLeak``: a host with several addresses leaves some behind
/// whenever it dials, and one of another room tries again and again. Above ``TransportLimits/failures`` the address is
/// barred, each time for twice as long as before. An address that a peer was at is barred for the shortest time only:
/// there may be somebody else on that host.
struct Offences: Sendable {
    private struct Record {
        var failures = 0.0
        var asOf: Instant
        var barredUntil: Instant?
        var pause: Duration
    }

    private static let most = 1_024
    private let limits: TransportLimits
    private var records: [IPAddress: Record] = [:]

    init(_ limits: TransportLimits) { self.limits = limits }

    var count: Int { records.count }

    func isBarred(_ address: IPAddress, now: Instant) -> Bool {
        guard let until = records[address]?.barredUntil else { return false }
        return now < until
    }

    mutating func note(_ address: IPAddress, isKnown: Bool, now: Instant) {
        var record = records[address] ?? Record(asOf: now, pause: limits.barred)
        record.failures = max(0, record.failures - (now - record.asOf) / limits.failureLeak) + 1
        record.asOf = now
        if let until = record.barredUntil, now - until > max(record.pause * 2, limits.barredForgotten) {
            record.pause = limits.barred
        }
        if record.failures > Double(limits.failures) {
            record.failures = 0
            record.barredUntil = now.advanced(by: isKnown ? limits.barred : record.pause)
            record.pause = min(record.pause * 2, limits.barredLongest)
        }
        if records[address] == nil, records.count >= Self.most { makeRoom(now) }
        records[address] = record
    }

    mutating func forgive(_ address: IPAddress) { records[address] = nil }

    /// Forgets those whose failures have leaked away, or just any.
    private mutating func makeRoom(_ now: Instant) {
        records = records.filter { _, record in
            record.barredUntil.map { now < $0.advanced(by: limits.barredForgotten) } ?? false
                || (now - record.asOf) / limits.failureLeak < record.failures
        }
        if records.count >= Self.most { records.remove(at: records.startIndex) }
    }
}

/// Says which refusals are worth a line in the log: one of a kind from one address an interval.
struct RefusalLog: Sendable {
    private static let most = 256
    private let interval: Duration
    private var told: [String: Instant] = [:]
    private var cleared: Instant?

    init(interval: Duration) { self.interval = interval }

    mutating func isNews(_ reason: String, from address: IPAddress?, now: Instant) -> Bool {
        let key = "\(address.map(String.init(describing:)) ?? "") \(reason)"
        if let last = told[key], now - last < interval { return false }
        if told.count >= Self.most {
            // A flood from many addresses would have us look through all of it each time.
            if let cleared, now - cleared < .seconds(1) { return false }
            cleared = now
            told = told.filter { now - $0.value < interval }
            if told.count >= Self.most { return false }
        }
        told[key] = now
        return true
    }
}
