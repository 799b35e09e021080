public import Addressing
import Glibc

/// What this host's interfaces say about where an address lies.
struct LocalNetworks: Sendable, Equatable {
    /// Our own addresses, scopes left out.
    var addresses: Set<IPAddress> = []
    /// The same with their scopes.
    var all: Set<IPAddress> = []
    /// The upper halves of our IPv6 addresses: each stands for a /64 on one of our links.
    var prefixes: Set<UInt64> = []
    /// The interfaces that have a link-local IPv6 address.
    var linkLocalScopes: Set<UInt32> = []
    /// The IPv4 networks on our links.
    var subnets: Set<Subnet> = []

    /// An IPv4 network: its address, and which bits of it count.
    struct Subnet: Sendable, Hashable {
        let address: UInt32
        let mask: UInt32

        init(of address: UInt32, mask: UInt32) {
            self.address = address & mask
            self.mask = mask
        }
    }

    /// Asks the system (getifaddrs(3)); nothing is known if that fails.
    static func current() -> LocalNetworks {
        var networks = LocalNetworks()
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0, let first = list else { return networks }
        defer { freeifaddrs(first) }
        for interface in sequence(first: first, next: { $0.pointee.ifa_next }) {
            guard let address = interface.pointee.ifa_addr.flatMap({ SocketAddress.endpoint($0) })?.address else {
                continue
            }
            networks.addresses.insert(address.withoutScope)
            networks.all.insert(address)
            // What is down leads nowhere: whoever comes with an address of its network comes through a router.
            guard interface.pointee.ifa_flags & UInt32(IFF_UP) != 0 else { continue }
            switch address {
            case .v6(let high, _, let scope):
                guard !address.isLoopback else { continue }
                networks.prefixes.insert(high)
                if address.isLinkLocalV6 { networks.linkLocalScopes.insert(scope) }
            case .v4(let value): networks.subnets.formUnion(subnets(of: value, interface.pointee))
            }
        }
        return networks
    }

    /// What is reached directly over an interface with this address: its network, or the other end of a tunnel.
    private static func subnets(of address: UInt32, _ interface: ifaddrs) -> [Subnet] {
        var subnets: [Subnet] = []
        if case .v4(let mask)? = interface.ifa_netmask.flatMap({ SocketAddress.endpoint($0) })?.address {
            subnets.append(Subnet(of: address, mask: mask))
        }
        if interface.ifa_flags & UInt32(IFF_POINTOPOINT) != 0,
            case .v4(let other)? = interface.ifa_ifu.ifu_dstaddr.flatMap({ SocketAddress.endpoint($0) })?.address
        {
            subnets.append(Subnet(of: other, mask: .max))
        }
        return subnets
    }

    /// Whether no router is between us and an address; also said of all if we know nothing about our interfaces.
    func isOnLink(_ address: IPAddress) -> Bool {
        if addresses.isEmpty { return true }
        switch address {
        case .v4(let value): return value >> 16 == 0xa9fe || subnets.contains { value & $0.mask == $0.address }
        case .v6(let high, _, _): return address.isLinkLocalV6 || prefixes.contains(high)
        }
    }

    /// The endpoint, or where it lacks the interface that it means nothing without, one for each that it may be on.
    func scoped(_ endpoint: Endpoint) -> [Endpoint] {
        guard endpoint.address.isLinkLocalV6, case .v6(let high, let low, 0) = endpoint.address else {
            return [endpoint]
        }
        return linkLocalScopes.sorted().map {
            Endpoint(address: .v6(high: high, low: low, scope: $0), port: endpoint.port)
        }
    }

    func isOwn(_ address: IPAddress) -> Bool { address.isLoopback || addresses.contains(address.withoutScope) }
}

extension IPAddress {
    var withoutScope: IPAddress {
        if case .v6(let high, let low, _) = self { .v6(high: high, low: low, scope: 0) } else { self }
    }
}

extension Transport {
    /// This host's addresses on interfaces that others may be on, IPv4 first; link-local ones with their interface.
    ///
    /// Asks the system, which takes well under a millisecond; any thread.
    public static func ownAddresses() -> [IPAddress] {
        LocalNetworks.current().all.filter { !$0.isLoopback }.sorted { rank($0) < rank($1) }
    }

    private static func rank(_ address: IPAddress) -> (Int, UInt64, UInt64) {
        switch address {
        case .v4(let value): (0, 0, UInt64(value))
        case .v6(let high, let low, _): (address.isLinkLocalV6 ? 2 : 1, high, low)
        }
    }
}
