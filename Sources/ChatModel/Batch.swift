public import Identity

/// One event of a batch; its log, number and predecessor follow from its place.
public struct BatchEvent: Hashable, Sendable {
    public var kind: EventKind
    public var nonce: Nonce
    public var clock: HybridTime
    /// In milliseconds since 1970.
    public var wallTime: UInt64
    /// The body, which may lie among the bytes of its batch: what outlives that takes ``body``.
    public private(set) var content: ArraySlice<UInt8>

    /// The body, as an array of its own.
    public var body: [UInt8] {
        get { Array(content) }
        set { content = newValue[...] }
    }

    public init(kind: EventKind, nonce: Nonce, clock: HybridTime, wallTime: UInt64, body: [UInt8]) {
        self.kind = kind
        self.nonce = nonce
        self.clock = clock
        self.wallTime = wallTime
        content = body[...]
    }

    fileprivate init(_ reader: inout ByteReader) throws(WireError) {
        kind = EventKind(try reader.byte())
        // Bit 0, 'body absent', is not yet allowed of any kind; other bits have no meaning.
        guard try reader.byte() == 0 else { throw .invalid(what: "an event's flags") }
        nonce = Nonce(try reader.integer())
        clock = HybridTime(value: try reader.integer())
        wallTime = try reader.integer()
        content = try reader.slice(Int(try reader.integer(UInt32.self)))
    }

    /// What it takes in a batch, in bytes.
    public var encodedLength: Int { Batch.eventOverhead + content.count }
}

/// Why a batch was refused.
public enum BatchError: Error, Equatable, CustomStringConvertible {
    case malformed(WireError)
    case eventCount(Int)
    case number
    case audience
    case seal

    public var description: String {
        switch self {
        case .malformed(let error): "batch: \(error)"
        case .eventCount(let count): "batch of \(count) events; 1 to \(Batch.maximumCount) are allowed"
        case .number: "batch with impossible numbers"
        case .audience: "batch for somebody else"
        case .seal: "batch whose seal doesn't hold"
        }
    }
}

/// Consecutive events of one log under one seal: what is stored and sent.
///
/// Whoever holds a `Batch` knows that its seal holds: it was either signed here or verified. Its bytes are kept as they
/// came.
public struct Batch: Hashable, Sendable {
    public static let maximumCount = 256  // events
    public static let maximumLength = 48 * 1024  // bytes, as written
    /// The highest number an event may have: SQLite's integers are signed.
    public static let maximumNumber = UInt64(Int64.max) - 2
    static let overhead = 32 + 16 + 32 + 8 + 32 + 2 + Signature.length
    static let eventOverhead = 1 + 1 + 16 + 8 + 8 + 4

    public let log: LogID
    /// The first event's number.
    public let first: UInt64
    /// The id of the event before the first.
    public let previous: EventID
    public let events: [BatchEvent]
    /// The events' ids, in their order.
    public let ids: [EventID]
    public let seal: Signature
    /// As on the wire and on disk.
    public let bytes: [UInt8]

    /// The last event's number.
    public var last: UInt64 { first + UInt64(events.count) - 1 }
    public var lastID: EventID { ids.last ?? previous }
    public var numbers: ClosedRange<UInt64> { first...last }

    /// The id of the event with this number, or of the one before the first.
    public func id(of number: UInt64) -> EventID? {
        if number < first { return number == first - 1 ? previous : nil }
        return numbers.contains(number) ? ids[Int(number - first)] : nil
    }

    /// How many of `events`, from the front, fit into one batch.
    public static func fitting(_ events: some Collection<BatchEvent>) -> Int {
        var length = overhead
        var count = 0
        for event in events.prefix(maximumCount) {
            length += event.encodedLength
            if length > maximumLength { break }
            count += 1
        }
        return count
    }

    /// Chains and seals an author's next events.
    ///
    /// - Precondition: `events` is not empty and fits (``fitting(_:)``); `key` is the log's author's.
    public init(
        sealing events: [BatchEvent], in log: LogID, of room: RoomID, first: UInt64, previous: EventID,
        with key: SigningKey
    ) {
        precondition(!events.isEmpty && Self.fitting(events) == events.count && key.peer == log.author)
        self.log = log
        self.first = first
        self.previous = previous
        self.events = events
        ids = Self.ids(of: events, in: log, of: room, first: first, previous: previous)
        let last = first + UInt64(events.count) - 1
        seal = key.sign(Self.sealed(log, room: room, last: last, lastID: ids.last ?? previous))
        bytes = Self.encode(log, first, previous, events) + seal.bytes
    }

    /// Takes a batch from a peer, or one from the disk whose seal is to be checked again.
    ///
    /// A batch for another audience than the room or `reader`, who receives it, is refused.
    public init(verifying bytes: [UInt8], in room: RoomID, reader: PeerID) throws(BatchError) {
        try self.init(parsing: bytes, in: room)
        guard log.isForRoom || log.audience == reader.key else { throw .audience }
        if !isSealed(in: room) { throw .seal }
    }

    /// Takes a batch from our own disk, where it was verified before it was written.
    public init(stored bytes: [UInt8], in room: RoomID) throws(BatchError) { try self.init(parsing: bytes, in: room) }

    /// Whether the seal holds, of a batch from the disk: whoever is sent one that doesn't closes the link.
    public func isSealed(in room: RoomID) -> Bool {
        log.author.verifies(seal, of: Self.sealed(log, room: room, last: last, lastID: lastID))
    }

    private init(parsing bytes: [UInt8], in room: RoomID) throws(BatchError) {
        do throws(WireError) {
            if bytes.count > Self.maximumLength {
                throw .tooLong(what: "batch", length: bytes.count, limit: Self.maximumLength)
            }
            var reader = ByteReader(bytes)
            log = LogID(
                author: try reader.peer(), incarnation: Incarnation(try reader.integer()),
                audience: try reader.bytes32())
            first = try reader.integer()
            previous = EventID(try reader.bytes32())
            let count: UInt16 = try reader.integer()
            var events: [BatchEvent] = []
            events.reserveCapacity(min(Int(count), Self.maximumCount))
            for _ in 0..<count { events.append(try BatchEvent(&reader)) }
            self.events = events
            guard let seal = Signature(try reader.take(Signature.length)) else { throw .truncated }
            self.seal = seal
            try reader.finish()
        } catch { throw error.asBatchError }
        guard (1...Self.maximumCount).contains(events.count) else { throw .eventCount(events.count) }
        guard first >= 1, first <= Self.maximumNumber - UInt64(events.count - 1), (first == 1) == (previous == .none)
        else {
            throw .number
        }
        self.bytes = bytes
        ids = Self.ids(of: events, in: log, of: room, first: first, previous: previous)
    }

    private static func encode(
        _ log: LogID, _ first: UInt64, _ previous: EventID, _ events: [BatchEvent]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(overhead + events.reduce(0) { $0 + $1.encodedLength })
        bytes += log.author.bytes
        bytes.append(bigEndian: log.incarnation.value)
        bytes += log.audience.bytes
        bytes.append(bigEndian: first)
        bytes += previous.digest.bytes
        bytes.append(bigEndian: UInt16(events.count))
        for event in events {
            bytes.append(event.kind.number)
            bytes.append(0)
            bytes.append(bigEndian: event.nonce.value)
            bytes.append(bigEndian: event.clock.value)
            bytes.append(bigEndian: event.wallTime)
            bytes.append(bigEndian: UInt32(event.content.count))
            bytes += event.content
        }
        return bytes
    }

    /// Walks the chain from the event before the first.
    private static func ids(
        of events: [BatchEvent], in log: LogID, of room: RoomID, first: UInt64, previous: EventID
    ) -> [EventID] {
        let hasher = EventHasher(log, in: room)
        var ids: [EventID] = []
        ids.reserveCapacity(events.count)
        var before = previous
        for (index, event) in events.enumerated() {
            before = hasher.id(of: event, number: first + UInt64(index), previous: before)
            ids.append(before)
        }
        return ids
    }

    /// What the author signs: the last id stands for all events up to it.
    private static func sealed(_ log: LogID, room: RoomID, last: UInt64, lastID: EventID) -> [UInt8] {
        var bytes = Array("groupchat-seal-v1\0".utf8)
        bytes += room.bytes
        bytes += log.author.bytes
        bytes.append(bigEndian: log.incarnation.value)
        bytes += log.audience.bytes
        bytes.append(bigEndian: last)
        bytes += lastID.digest.bytes
        return bytes
    }
}

extension Batch {
    /// Chains events under a seal of zeros, which nobody takes: for simulations, where signing would take most of the time.
    ///
    /// What a product sends, stores or shows never comes from here: no module under Sources/ may import this interface.
    @_spi(Simulation) public init(
        simulating events: [BatchEvent], in log: LogID, of room: RoomID, first: UInt64, previous: EventID
    ) {
        self.log = log
        self.first = first
        self.previous = previous
        self.events = events
        ids = Self.ids(of: events, in: log, of: room, first: first, previous: previous)
        guard let zeros = Signature(repeatElement(0, count: Signature.length)) else {
            preconditionFailure("64 bytes are a signature")
        }
        seal = zeros
        bytes = Self.encode(log, first, previous, events) + zeros.bytes
    }
}

extension WireError {
    fileprivate var asBatchError: BatchError { .malformed(self) }
}
