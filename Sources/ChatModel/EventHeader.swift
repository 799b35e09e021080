public import Identity

/// One birth of an author's database: a number made at random then, so that a database lost or restored never gives
/// one number to two events.
public struct Incarnation: Hashable, Comparable, Sendable {
    public let value: UInt128
    public init(_ value: UInt128) { self.value = value }
    public static func < (left: Incarnation, right: Incarnation) -> Bool { left.value < right.value }
}

/// What a client gives a message it sends, so that sending it again after a crash is the same message.
public struct Nonce: Hashable, Sendable, CustomStringConvertible {
    public let value: UInt128
    public init(_ value: UInt128) { self.value = value }

    /// Parses 32 hexadecimal digits.
    public init?(hexadecimal text: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: text), bytes.count == 16 else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: value)
        return bytes.hexadecimal
    }
}

/// Which events are numbered together: one author's, in one incarnation, for one audience.
///
/// Ordered so that whoever goes through many does so the same way in each run.
public struct LogID: Hashable, Comparable, Sendable {
    public var author: PeerID
    public var incarnation: Incarnation
    /// Zero for the whole room, else the key of the one peer whom a direct message is for.
    public var audience: Bytes32

    public init(author: PeerID, incarnation: Incarnation, audience: Bytes32 = .zero) {
        self.author = author
        self.incarnation = incarnation
        self.audience = audience
    }

    public var isForRoom: Bool { audience == .zero }

    public static func < (left: LogID, right: LogID) -> Bool {
        (left.author, left.incarnation, left.audience) < (right.author, right.incarnation, right.audience)
    }
}

/// An event's identity: SHA-256 of its header.
public struct EventID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let digest: Bytes32
    public init(_ digest: Bytes32) { self.digest = digest }

    /// What the first event of a log names as the one before it.
    public static let none = EventID(.zero)

    /// Parses 64 hexadecimal digits.
    public init?(hexadecimal text: some StringProtocol) {
        guard let digest = Bytes32(hexadecimal: text) else { return nil }
        self.digest = digest
    }

    /// 64 lower-case hexadecimal digits.
    public var description: String { digest.hexadecimal }
    public static func < (left: EventID, right: EventID) -> Bool { left.digest < right.digest }
}

/// What an event is.
///
/// Kinds that this version doesn't know are kept and passed on, and not shown.
public struct EventKind: Hashable, Sendable {
    public let number: UInt8
    public init(_ number: UInt8) { self.number = number }
    public static let text = EventKind(1)
    public static let image = EventKind(2)
}

/// Time as an event carries it: milliseconds since 1970 in the upper 48 bits, and a counter within one in the lower 16.
public struct HybridTime: Hashable, Comparable, Sendable {
    public var value: UInt64
    public init(value: UInt64) { self.value = value }

    /// Takes milliseconds since 1970; what doesn't fit in 48 bits saturates.
    public init(milliseconds: UInt64, counter: UInt16 = 0) {
        value = min(milliseconds, 1 << 48 - 1) << 16 | UInt64(counter)
    }

    /// Since 1970.
    public var milliseconds: UInt64 { value >> 16 }
    /// The next later time; the last one there is stays.
    public var next: HybridTime { HybridTime(value: value.adding(1)) }
    public static func < (left: HybridTime, right: HybridTime) -> Bool { left.value < right.value }
}

/// What is hashed into an event's id and so, through the chain and the seal, signed.
///
/// Of fixed width, so that the same values are always the same bytes (docs/protocol.md, "Events, ids, seals").
public struct EventHeader: Hashable, Sendable {
    public var log: LogID
    /// 1 for the first of its log.
    public var number: UInt64
    public var previous: EventID
    public var kind: EventKind
    public var nonce: Nonce
    public var clock: HybridTime
    /// The author's wall clock in milliseconds since 1970; a label, never an order.
    public var wallTime: UInt64
    public var bodyHash: Bytes32
    public var bodyLength: UInt32

    public func id(in room: RoomID) -> EventID { EventHasher(log, in: room).id(of: self) }
}

/// Hashes the headers of one log's events, whose first 131 bytes are the same.
struct EventHasher {
    private static let type = Array("groupchat-event-v1\0".utf8)
    private static let restLength = 8 + 32 + 1 + 16 + 8 + 8 + 32 + 4
    private let log: LogID
    private let beginning: SHA256

    init(_ log: LogID, in room: RoomID) {
        self.log = log
        var bytes = Self.type
        bytes += room.bytes
        bytes += log.author.bytes
        bytes.append(bigEndian: log.incarnation.value)
        bytes += log.audience.bytes
        var beginning = SHA256()
        bytes.withUnsafeBytes { beginning.add($0) }
        self.beginning = beginning
    }

    /// The id of an event of this log.
    func id(of header: EventHeader) -> EventID {
        withUnsafeTemporaryAllocation(byteCount: Self.restLength, alignment: 8) { bytes in
            var end = 0
            func put<Number: FixedWidthInteger & BitwiseCopyable>(_ value: Number) {
                bytes.storeBytes(of: value.bigEndian, toByteOffset: end, as: Number.self)
                end += value.bitWidth / 8
            }
            func put(_ value: Bytes32) {
                value.withBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyMemory(from: $0) }
                end += 32
            }
            put(header.number)
            put(header.previous.digest)
            put(header.kind.number)
            put(header.nonce.value)
            put(header.clock.value)
            put(header.wallTime)
            put(header.bodyHash)
            put(header.bodyLength)
            return EventID(beginning.digest(with: UnsafeRawBufferPointer(bytes)))
        }
    }

    /// The id of a batch's event.
    func id(of event: BatchEvent, number: UInt64, previous: EventID) -> EventID {
        id(
            of: EventHeader(
                log: log, number: number, previous: previous, kind: event.kind, nonce: event.nonce, clock: event.clock,
                wallTime: event.wallTime, bodyHash: event.content.withUnsafeBytes { SHA256.digest(of: $0) },
                bodyLength: UInt32(event.content.count)))
    }
}
