import Addressing
import Glibc

/// An address of this host on an interface that multicast DNS can use.
struct InterfaceAddress: Hashable, Sendable {
    var interface: Int32
    var address: IPAddress

    /// The addresses of all interfaces that are up and are loopback or can multicast, and aren't point to point: those
    /// that libavahi-core speaks on.
    static func current() -> Set<InterfaceAddress> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: Set<InterfaceAddress> = []
        var next = list
        while let current = next?.pointee {
            next = current.ifa_next
            let flags = Int(current.ifa_flags)
            guard flags & Int(IFF_UP) != 0, flags & Int(IFF_POINTOPOINT) == 0,
                flags & (Int(IFF_LOOPBACK) | Int(IFF_MULTICAST)) != 0,
                let index = Int32(exactly: if_nametoindex(current.ifa_name)), index > 0,
                let address = current.ifa_addr.flatMap({ IPAddress($0, interface: index) })
            else { continue }
            found.insert(InterfaceAddress(interface: index, address: address))
        }
        return found
    }

    /// Whether only this host is on the interface.
    static func isLoopback(_ interface: Int32) -> Bool {
        guard let socket = ConfigurationSocket.shared, interface > 0 else { return false }
        var request = ifreq()
        let isNamed = withUnsafeMutableBytes(of: &request.ifr_ifrn.ifrn_name) { name in
            name.baseAddress.flatMap { if_indextoname(UInt32(interface), $0.assumingMemoryBound(to: CChar.self)) }
                != nil
        }
        guard isNamed, ioctl(socket, UInt(SIOCGIFFLAGS), &request) == 0 else { return false }
        return Int(request.ifr_ifru.ifru_flags) & Int(IFF_LOOPBACK) != 0
    }
}

private enum ConfigurationSocket {
    /// A socket to ask about interfaces with (netdevice(7)); open as long as the process.
    static let shared: CInt? = {
        let socket = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        return socket < 0 ? nil : socket
    }()
}

extension IPAddress {
    fileprivate init?(_ address: UnsafeMutablePointer<sockaddr>, interface: Int32) {
        let raw = UnsafeRawPointer(address)
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            self = .v4(UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            var bytes = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            let (high, low) = withUnsafeBytes(of: &bytes) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let plain = IPAddress.v6(high: high, low: low, scope: 0)
            self = plain.isLinkLocalV6 ? .v6(high: high, low: low, scope: UInt32(interface)) : plain
        default: return nil
        }
    }
}
