/// Where a TCP connection can be made to: an address and a port.
@frozen public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    public var address: IPAddress
    public var port: UInt16

    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `10.0.0.1:7311`, `[fe80::1%3]:7311`.
    public var description: String { text { _ in nil } }

    /// `[fe80::1%eth0]:7311`: as ``description``, for people of this host.
    ///
    /// - Parameter name: The name of the interface with an index, if it has one.
    /// - Returns: The same text where there is no interface or it has no name.
    public func text(naming name: (UInt32) -> String?) -> String {
        switch address {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address.text(naming: name))]:\(port)"
        }
    }
}

extension Endpoint {
    /// The same without the interface, which is this host's business and may have another number tomorrow.
    public var withoutScope: Endpoint {
        guard case .v6(let high, let low, _) = address else { return self }
        return Endpoint(address: .v6(high: high, low: low, scope: 0), port: port)
    }

    /// For the wire and the disk: u8 4 or 6, the address, u16 port; the scope is left out.
    public var encoded: [UInt8] {
        let (family, bytes): (UInt8, [UInt8]) =
            switch address {
            case .v4(let value): (4, Self.bytes(UInt64(value), count: 4))
            case .v6(let high, let low, _): (6, Self.bytes(high, count: 8) + Self.bytes(low, count: 8))
            }
        return [family] + bytes + Self.bytes(UInt64(port), count: 2)
    }

    private static func bytes(_ value: UInt64, count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
    }

    /// Reads one from the front of bytes, and takes it off them; `nil` for what ``encoded`` doesn't give.
    public init?(takenFrom bytes: inout ArraySlice<UInt8>) {
        let length = bytes.first == 4 ? 7 : bytes.first == 6 ? 19 : Int.max
        guard bytes.count >= length else { return nil }
        let fields = Array(bytes.prefix(length))
        bytes = bytes.dropFirst(length)
        let number = { (range: Range<Int>) in fields[range].reduce(0) { $0 << 8 | UInt64($1) } }
        address =
            length == 7
            ? .v4(UInt32(truncatingIfNeeded: number(1..<5))) : .v6(high: number(1..<9), low: number(9..<17), scope: 0)
        port = UInt16(truncatingIfNeeded: number(length - 2..<length))
    }
}

/// An IPv4 or IPv6 address; a link-local IPv6 one with the interface that it is valid on.
@frozen public enum IPAddress: Hashable, Sendable {
    /// Four bytes, as on the wire.
    case v4(UInt32)
    /// Sixteen bytes, as on the wire, and the interface's index (RFC 4007, scope zone), 0 where none is needed.
    case v6(high: UInt64, low: UInt64, scope: UInt32)

    public static let loopback = IPAddress.v4(0x7f00_0001)
    public static let anyV4 = IPAddress.v4(0)
    public static let anyV6 = IPAddress.v6(high: 0, low: 0, scope: 0)

    /// Whether this is `fe80::/10`, which means nothing without its interface (RFC 4291, 2.5.6).
    public var isLinkLocalV6: Bool {
        if case .v6(let high, _, _) = self { high >> 54 == 0xfe80 >> 6 } else { false }
    }

    public var isLoopback: Bool {
        switch self {
        case .v4(let value): value >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// Dotted decimal, or RFC 5952 with `%` and the interface's index where there is a scope.
    public var description: String { text { _ in nil } }

    fileprivate func text(naming name: (UInt32) -> String?) -> String {
        switch self {
        case .v4(let value): [24, 16, 8, 0].map { String(value >> $0 & 255) }.joined(separator: ".")
        case .v6(let high, let low, let scope):
            Self.text(groups: Self.groups(high) + Self.groups(low))
                + (scope == 0 ? "" : "%\(name(scope) ?? "\(scope)")")
        }
    }

    private static func groups(_ half: UInt64) -> [UInt16] {
        [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> $0) }
    }

    /// The longest run of zero groups becomes `::`, the first of several; one group alone stays (RFC 5952, 4.2).
    private static func text(groups: [UInt16]) -> String {
        var best = 0..<0
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > max(best.count, 1) { best = start..<index }
            start = index + 1
        }
        let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        return best.isEmpty
            ? text(groups[...]) : "\(text(groups[..<best.lowerBound]))::\(text(groups[best.upperBound...]))"
    }
}
