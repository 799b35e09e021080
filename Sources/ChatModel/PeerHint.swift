public import Addressing
public import Identity

/// Where a peer says that it can be dialled, under its own signature, so that others can pass it on
/// (docs/protocol.md, "Hints").
///
/// Bytes that decode encode to themselves.
public struct PeerHint: Hashable, Sendable {
    public static let maximumEndpoints = 8
    /// A newer word of the same peer has a higher one: when it was signed, in milliseconds since 1970.
    public var counter: UInt64
    /// The key of whose word it is; a peer's only once ``author(in:)`` has looked.
    public var key: Bytes32
    /// At least one; private or link-local, and without interfaces.
    public var endpoints: [Endpoint]
    public var signature: Signature

    /// The most bytes that one takes.
    static let maximumLength = 32 + 8 + 1 + maximumEndpoints * 19 + Signature.length

    /// Signs where we are; `nil` if none of the endpoints may be told.
    ///
    /// - Parameters:
    ///   - endpoints: The first of them that may be told are.
    ///   - counter: Higher than in the last one.
    ///   - room: What the word is good for.
    ///   - key: Ours.
    public init?(signing endpoints: [Endpoint], counter: UInt64, in room: RoomID, by key: SigningKey) {
        let told = endpoints.map(\.withoutScope).filter { $0.port != 0 && $0.address.isOnSite }
        guard !told.isEmpty else { return nil }
        self.endpoints = Array(told.prefix(Self.maximumEndpoints))
        self.counter = counter
        self.key = key.peer.key
        signature = key.sign(Self.signed(self.key, counter, self.endpoints, in: room))
    }

    /// Who has signed it for this room, and nobody else could; takes about 130 microseconds.
    public func author(in room: RoomID) -> PeerID? {
        guard let peer = PeerID(key.bytes) else { return nil }
        return peer.verifies(signature, of: Self.signed(key, counter, endpoints, in: room)) ? peer : nil
    }

    /// Whether it is young enough by our wall clock; one from the future may be as far off.
    func isFresh(at wall: UInt64, life: UInt64) -> Bool {
        counter.adding(life) >= wall && counter <= wall.adding(life)
    }

    private static func signed(
        _ key: Bytes32, _ counter: UInt64, _ endpoints: [Endpoint], in room: RoomID
    ) -> [UInt8] {
        Array("groupchat-hint-v1\0".utf8) + room.bytes + content(key, counter, endpoints)
    }

    private static func content(_ key: Bytes32, _ counter: UInt64, _ endpoints: [Endpoint]) -> [UInt8] {
        var bytes = key.bytes
        bytes.append(bigEndian: counter)
        bytes.append(UInt8(endpoints.count))
        return bytes + endpoints.flatMap(\.encoded)
    }

    fileprivate var encoded: [UInt8] { Self.content(key, counter, endpoints) + signature.bytes }

    fileprivate init(_ reader: inout ByteReader) throws(WireError) {
        key = try reader.bytes32()
        counter = try reader.integer()
        let count = Int(try reader.byte())
        guard (1...Self.maximumEndpoints).contains(count) else { throw .invalid(what: "the number of addresses") }
        endpoints = []
        for _ in 0..<count {
            let family = try reader.byte()
            guard family == 4 || family == 6 else { throw .invalid(what: "an address") }
            var field = ([family] + (try reader.take(family == 4 ? 6 : 18)))[...]
            guard let endpoint = Endpoint(takenFrom: &field), endpoint.port != 0, endpoint.address.isOnSite else {
                throw .invalid(what: "an address")
            }
            endpoints.append(endpoint)
        }
        guard let signature = Signature(try reader.take(Signature.length)) else { throw .truncated }
        self.signature = signature
    }
}

/// What a member knows of where others are.
public struct Hints: Hashable, Sendable {
    /// So many fit into one message.
    static let maximumCount = (SessionMessage.controlLimit - 1) / PeerHint.maximumLength

    public var hints: [PeerHint]

    public init(hints: [PeerHint]) { self.hints = hints }

    var encoded: [UInt8] { [UInt8(hints.count)] + hints.flatMap(\.encoded) }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let count = Int(try reader.byte())
        guard count <= Self.maximumCount else { throw .invalid(what: "the number of hints") }
        hints = []
        for _ in 0..<count { hints.append(try PeerHint(&reader)) }
        try reader.finish()
    }
}

extension IPAddress {
    /// Whether it is of a private network or one link (RFC 1918, RFC 3927, RFC 4193, RFC 4291): a hint may send nobody
    /// to any other.
    public var isOnSite: Bool {
        switch self {
        case .v4(let value):
            value >> 24 == 10 || value >> 20 == 0xac1 || value >> 16 == 0xc0a8 || value >> 16 == 0xa9fe
        case .v6(let high, _, _): isLinkLocalV6 || high >> 57 == 0xfc >> 1
        }
    }
}
