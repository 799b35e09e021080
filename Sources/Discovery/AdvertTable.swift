import Addressing
import Identity

/// Where a record was heard: the same instance comes once for each interface and IP version.
struct RecordKey: Hashable, Sendable {
    enum Family: Sendable { case v4, v6 }

    var interface: Int32
    var family: Family
    /// The stack that it was heard by.
    var lane: UInt8 = 0
    /// UTF-8; bytes and no String, which takes different ones for equal.
    var instance: [UInt8]
}

/// What a record's instance resolved to.
struct Resolution: Equatable, Sendable {
    var endpoint: Endpoint
    var text: [[UInt8]]
    /// Whether it was heard on a loopback interface: nobody else may name a loopback address.
    var isLoopback = false
}

/// Who an advert is of: in a keyed room only a link tells.
enum Advertised: Hashable, Sendable {
    case peer(PeerID)
    case instance([UInt8])

    fileprivate var order: [UInt8] {
        switch self {
        case .peer(let peer): peer.bytes
        case .instance(let name): name
        }
    }

    fileprivate var lost: DiscoveryEvent {
        switch self {
        case .peer(let peer): .lost(peer)
        case .instance(let name): .vanished(instance: String(decoding: name, as: UTF8.self))
        }
    }
}

/// Who is announced, keyed by PeerID alone; in a keyed room, by instance.
///
/// Pure: takes what the resolvers say, returns what is new. In an open room neither a name nor an address tells who a
/// record is of.
struct AdvertTable: Sendable {
    /// The most endpoints told of one peer: whoever forges more gains nothing.
    static let maximumEndpoints = 16
    /// The most records kept of one peer; further ones are passed over.
    static let maximumRecords = 64

    private struct Entry {
        var endpoint: Endpoint
        var arrival: Int
        var generation: Int
    }

    private struct View: Equatable {
        var instance: String
        var endpoints: [Endpoint]
    }

    private struct Peer {
        var records: [RecordKey: Entry] = [:]
        var told: View?
    }

    private let own: PeerID
    private let room: String
    private let concealment: Concealment?
    /// What we are announced as, and were before.
    private var ownInstances: [[UInt8]]
    private var peers: [Advertised: Peer] = [:]
    private var owners: [RecordKey: Advertised] = [:]
    private var arrivals = 0
    private var generations: [UInt8: Int] = [:]

    init(own: PeerID, room: String, concealment: Concealment? = nil) {
        self.own = own
        self.room = room
        self.concealment = concealment
        ownInstances = concealment.map { [Array($0.instance.utf8)] } ?? []
    }

    /// We are announced by another name from now on; the old one may still be heard of.
    mutating func renamed(_ instance: String) {
        ownInstances = ownInstances.suffix(1) + [Array(instance.utf8)]
    }

    /// Whose record this is; `nil` for our own and for whatever is no valid advert of this room.
    func subject(of key: RecordKey, _ resolution: Resolution) -> Advertised? {
        guard resolution.endpoint.port != 0, resolution.endpoint.address.isDialable(onLoopback: resolution.isLoopback)
        else { return nil }
        if let concealment {
            let isMember = AdvertText.isMember(resolution.text, instance: key.instance, concealment)
            return isMember && !ownInstances.contains(key.instance) ? .instance(key.instance) : nil
        }
        guard let peer = AdvertText.peer(in: resolution.text, room: room), peer != own else { return nil }
        return .peer(peer)
    }

    /// A record resolved, for the first time or anew.
    mutating func resolved(_ key: RecordKey, to resolution: Resolution) -> [DiscoveryEvent] {
        guard let peer = subject(of: key, resolution) else { return removed(key) }
        let gone = owners[key] == peer ? [] : removed(key)
        let known = peers[peer]?.records[key]
        if known == nil {
            guard peers[peer]?.records.count ?? 0 < Self.maximumRecords else { return gone }
            arrivals += 1
        }
        owners[key] = peer
        peers[peer, default: Peer()].records[key] = Entry(
            endpoint: resolution.endpoint, arrival: known?.arrival ?? arrivals,
            generation: generations[key.lane] ?? 0)
        return gone + tell(peer)
    }

    /// A record went, or leads nowhere any more.
    mutating func removed(_ key: RecordKey) -> [DiscoveryEvent] {
        guard let peer = owners.removeValue(forKey: key) else { return [] }
        peers[peer]?.records[key] = nil
        return tell(peer)
    }

    /// A stack's browsing begins anew: what it doesn't hear again goes with ``sweep(_:)``.
    mutating func beginGeneration(_ lane: UInt8 = 0) { generations[lane, default: 0] += 1 }

    /// Drops what a stack last heard before the latest ``beginGeneration(_:)``.
    mutating func sweep(_ lane: UInt8 = 0) -> [DiscoveryEvent] {
        let stale = owners.filter { key, peer in
            key.lane == lane && peers[peer]?.records[key]?.generation != generations[lane] ?? 0
        }
        for (key, peer) in stale {
            owners[key] = nil
            peers[peer]?.records[key] = nil
        }
        return Set(stale.values).sorted { $0.order.lexicographicallyPrecedes($1.order) }.flatMap { tell($0) }
    }

    private mutating func tell(_ peer: Advertised) -> [DiscoveryEvent] {
        guard let entry = peers[peer] else { return [] }
        guard let view = Self.view(of: entry.records) else {
            peers[peer] = nil
            return [peer.lost]
        }
        guard view != entry.told else { return [] }
        peers[peer]?.told = view
        switch peer {
        case .peer(let peer): return [.found(peer, instance: view.instance, endpoints: view.endpoints)]
        case .instance: return [.sighted(instance: view.instance, endpoints: view.endpoints)]
        }
    }

    /// The newest instance's name; its endpoints first, each instance's in an order that depends on nothing but them.
    private static func view(of records: [RecordKey: Entry]) -> View? {
        let instances = Dictionary(grouping: records, by: \.key.instance)
            .map { name, records in (name: name, records: records, age: records.map(\.value.arrival).min() ?? 0) }
            .sorted { $0.age > $1.age }
        guard let newest = instances.first else { return nil }
        var endpoints: [Endpoint] = []
        for instance in instances {
            for endpoint in instance.records.map(\.value.endpoint).sorted(by: Endpoint.isTriedBefore)
            where !endpoints.contains(endpoint) && endpoints.count < maximumEndpoints {
                endpoints.append(endpoint)
            }
        }
        return View(instance: String(decoding: newest.name, as: UTF8.self), endpoints: endpoints)
    }
}

extension IPAddress {
    /// Whether a record may send us there: one host's, and its own.
    fileprivate func isDialable(onLoopback: Bool) -> Bool {
        if isLoopback { return onLoopback }
        switch self {
        case .v4(let value): return value >> 24 != 0 && value >> 24 < 224
        case .v6(let high, let low, let scope):
            let isMapped = high == 0 && low >> 32 == 0xffff
            return high >> 56 != 0xff && !(high == 0 && low == 0) && !isMapped && !(isLinkLocalV6 && scope == 0)
        }
    }

    /// Loopback, IPv4, IPv6 of wider scope, IPv6 of the link; then by interface and value.
    fileprivate var rank: (Int, UInt32, UInt64, UInt64) {
        switch self {
        case .v4(let value): (isLoopback ? 0 : 1, 0, 0, UInt64(value))
        case .v6(let high, let low, let scope): (isLoopback ? 0 : isLinkLocalV6 ? 3 : 2, scope, high, low)
        }
    }
}

extension Endpoint {
    fileprivate static func isTriedBefore(_ left: Endpoint, _ right: Endpoint) -> Bool {
        left.address.rank == right.address.rank ? left.port < right.port : left.address.rank < right.address.rank
    }
}
