public import Identity

/// A holder's word on what it has of the room's logs, signed so that others may pass it on (docs/protocol.md, "Receipts").
///
/// Whoever has one that came from elsewhere doesn't know yet whether the signature holds.
public struct Receipt: Hashable, Sendable {
    /// What a receipt says beside who says it.
    public struct Content: Hashable, Sendable {
        /// Rises with each receipt of a holder: the newest one counts.
        public var counter: UInt64
        /// The holder's display name.
        public var name: String
        /// Whom the holder is linked with, who therefore needs nobody else's word on it.
        public var links: [Mark]
        /// Logs for the whole room, those that changed last.
        public var entries: [Have.Entry]

        public init(counter: UInt64, name: String, links: [Mark], entries: [Have.Entry]) {
            self.counter = counter
            self.name = name
            self.links = links
            self.entries = entries
        }
    }

    /// The first eight bytes of a peer's key.
    public struct Mark: Hashable, Comparable, Sendable {
        let value: UInt64
        init(value: UInt64) { self.value = value }
        public init(_ peer: PeerID) { value = peer.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
        public static func < (left: Mark, right: Mark) -> Bool { left.value < right.value }
    }

    static let maximumEntries = 48
    static let maximumLinks = 255

    public let holder: PeerID
    public let content: Content
    /// As on the wire and on disk.
    public let bytes: [UInt8]

    public var counter: UInt64 { content.counter }

    /// Signs what the key's owner has; what is too much is left out from the end.
    public init(signing content: Content, in room: RoomID, with key: SigningKey) {
        var content = content
        content.links = Array(content.links.prefix(Self.maximumLinks))
        content.entries = Array(content.entries.prefix(Self.maximumEntries))
        let body = Self.encode(content, of: key.peer)
        holder = key.peer
        self.content = content
        bytes = body + key.sign(Self.signed(body, room)).bytes
    }

    /// Takes apart what came; ``holds(in:)`` says whether it is the holder's word.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        holder = try reader.peer()
        let counter: UInt64 = try reader.integer()
        let name = try reader.text(Int(reader.byte()), "the holder's name")
        if let complaint = Names.complaint(displayName: name) { throw .invalid(what: complaint) }
        let links = try (0..<(try reader.byte())).map { _ throws(WireError) in Mark(value: try reader.integer()) }
        let count = try reader.byte()
        guard count <= Self.maximumEntries else { throw .invalid(what: "the count of logs") }
        let entries = try (0..<count).map { _ throws(WireError) in try reader.haveEntry() }
        guard entries.allSatisfy(\.log.isForRoom) else { throw .invalid(what: "a direct log in a receipt") }
        _ = try reader.take(Signature.length)
        try reader.finish()
        content = Content(counter: counter, name: name, links: links, entries: entries)
        self.bytes = bytes
    }

    public func holds(in room: RoomID) -> Bool {
        guard let signature = Signature(bytes.suffix(Signature.length)) else { return false }
        return holder.verifies(signature, of: Self.signed(bytes.dropLast(Signature.length), room))
    }

    private static func encode(_ content: Content, of holder: PeerID) -> [UInt8] {
        var bytes = holder.bytes
        bytes.append(bigEndian: content.counter)
        bytes.append(short: content.name)
        bytes.append(UInt8(content.links.count))
        for link in content.links { bytes.append(bigEndian: link.value) }
        bytes.append(UInt8(content.entries.count))
        for entry in content.entries { bytes.append(entry) }
        return bytes
    }

    private static func signed(_ body: some Sequence<UInt8>, _ room: RoomID) -> [UInt8] {
        Array("groupchat-receipt-v1\0".utf8) + room.bytes + body
    }
}
