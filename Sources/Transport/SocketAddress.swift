public import Addressing
package import Glibc

/// An endpoint as system calls take it (ip(7), ipv6(7)).
package enum SocketAddress {
    /// Runs `body` with the endpoint as a `sockaddr`.
    package static func with<Result>(
        _ endpoint: Endpoint, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        switch endpoint.address {
        case .v4(let value):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = value.bigEndian
            address.sin_port = endpoint.port.bigEndian
            return rebound(&address, body)
        case .v6(let high, let low, let scope):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
                bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
                bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            address.sin6_port = endpoint.port.bigEndian
            address.sin6_scope_id = scope
            return rebound(&address, body)
        }
    }

    private static func rebound<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
        }
    }

    /// Runs a call that fills in an address, such as getsockname(2).
    package static func filled<Result>(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
    ) -> (Result, Endpoint?) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        let endpoint = withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Self.endpoint($0) }
        }
        return (result, endpoint)
    }

    /// - Parameter address: Must have room for what its family says.
    /// - Returns: `nil` for a family that isn't IP. An IPv4 address mapped into IPv6 comes out as IPv4.
    static func endpoint(_ address: UnsafePointer<sockaddr>) -> Endpoint? {
        let raw = UnsafeRawPointer(address)
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            return Endpoint(
                address: .v4(UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = withUnsafeBytes(of: address.sin6_addr) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let port = UInt16(bigEndian: address.sin6_port)
            if high == 0, low >> 32 == 0xffff {
                return Endpoint(address: .v4(UInt32(truncatingIfNeeded: low)), port: port)
            }
            return Endpoint(address: .v6(high: high, low: low, scope: address.sin6_scope_id), port: port)
        default: return nil
        }
    }
}

/// A host name or address that can't be turned into endpoints.
public struct ResolutionError: Error, Equatable, CustomStringConvertible {
    public let host: String
    /// As getaddrinfo(3) returns it.
    public let code: CInt

    public var description: String { "resolve \(host): \(String(cString: gai_strerror(code))) (getaddrinfo \(code))" }
}

extension Endpoint {
    /// Looks up a name, or reads an address such as `10.0.0.1` or `fe80::1%eth0`, by getaddrinfo(3).
    ///
    /// Blocks, for many seconds if a name server doesn't answer.
    ///
    /// - Returns: At least one endpoint, in the order of RFC 6724.
    public static func resolve(host: String, port: UInt16) throws(ResolutionError) -> [Endpoint] {
        try lookUp(host, port, flags: 0)
    }

    /// Reads an address such as `10.0.0.1` or `fe80::1%eth0`; `nil` for anything else, a name too.
    public init?(numericHost host: String, port: UInt16) {
        guard let first = try? Self.lookUp(host, port, flags: AI_NUMERICHOST).first else { return nil }
        self = first
    }

    private static func lookUp(
        _ host: String, _ port: UInt16, flags: CInt
    ) throws(ResolutionError) -> [Endpoint] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0, let first = list else { throw ResolutionError(host: host, code: code) }
        defer { freeaddrinfo(first) }
        let found = sequence(first: first) { $0.pointee.ai_next }
            .compactMap { $0.pointee.ai_addr.flatMap { SocketAddress.endpoint($0) } }
        if found.isEmpty { throw ResolutionError(host: host, code: EAI_NONAME) }
        return found
    }
}
