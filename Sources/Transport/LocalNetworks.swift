import Addressing
import Glibc

/// What this host's interfaces say about where an address lies.
struct LocalNetworks: Sendable, Equatable {
    /// Our own addresses, scopes left out.
    var addresses: Set<IPAddress> = []
    /// The upper halves of our IPv6 addresses: each stands for a /64 on one of our links.
    var prefixes: Set<UInt64> = []

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
            if case .v6(let high, _, _) = address, !address.isLoopback { networks.prefixes.insert(high) }
        }
        return networks
    }

    func isOwn(_ address: IPAddress) -> Bool { address.isLoopback || addresses.contains(address.withoutScope) }
}

extension IPAddress {
    var withoutScope: IPAddress {
        if case .v6(let high, let low, _) = self { .v6(high: high, low: low, scope: 0) } else { self }
    }
}
