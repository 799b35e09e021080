import Identity

/// What a peer holds of some logs; replaces what it said of them before.
public struct Have: Hashable, Sendable {
    static let maximumLogs = 256  // a page
    fileprivate static let forkedBit: UInt8 = 0x80  // beside the count of ranges

    /// One log's entry; the ranges ascend and leave gaps.
    public struct Entry: Hashable, Sendable {
        public var log: LogID
        public var ranges: [EventRange]
        /// Whether the peer holds the proof of two histories, and takes nothing more of the log.
        public var isForked: Bool

        public init(log: LogID, ranges: [EventRange], isForked: Bool = false) {
            self.log = log
            self.ranges = ranges
            self.isForked = isForked
        }

        var encodedLength: Int { 32 + 16 + 32 + 1 + ranges.count * (8 + 8 + 32) }
    }

    /// Whether another page follows.
    public var isContinued: Bool
    public var entries: [Entry]

    public init(entries: [Entry], isContinued: Bool = false) {
        self.entries = entries
        self.isContinued = isContinued
    }

    /// Divides what there is to say into messages that fit a frame; at least one, even if empty.
    public static func pages(_ entries: [Entry]) -> [Have] {
        var pages = [Have(entries: [])]
        var length = 0
        for entry in entries {
            if length + entry.encodedLength > SessionMessage.controlLimit - 16
                || pages[pages.count - 1].entries.count >= maximumLogs
            {
                pages[pages.count - 1].isContinued = true
                pages.append(Have(entries: []))
                length = 0
            }
            pages[pages.count - 1].entries.append(entry)
            length += entry.encodedLength
        }
        return pages
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = [isContinued ? 1 : 0]
        bytes.append(bigEndian: UInt16(entries.count))
        for entry in entries { bytes.append(entry) }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        isContinued = try reader.flag()
        let count: UInt16 = try reader.integer()
        guard count <= Self.maximumLogs else { throw .invalid(what: "the count of logs") }
        entries = try (0..<count).map { _ throws(WireError) in try reader.haveEntry() }
        try reader.finish()
    }
}

/// A request for events of one log; answered with batches that cover the range or its front.
public struct Want: Hashable, Sendable {
    public var log: LogID
    public var numbers: ClosedRange<UInt64>

    public init(log: LogID, numbers: ClosedRange<UInt64>) {
        self.log = log
        self.numbers = numbers
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(log)
        bytes.append(bigEndian: numbers.lowerBound)
        bytes.append(bigEndian: numbers.upperBound)
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        log = try reader.log()
        let first: UInt64 = try reader.integer()
        let last: UInt64 = try reader.integer()
        guard first >= 1, first <= last, last <= Batch.maximumNumber else { throw .invalid(what: "a range") }
        numbers = first...last
        try reader.finish()
    }
}

extension [UInt8] {
    mutating func append(_ entry: Have.Entry) {
        append(entry.log)
        append(UInt8(entry.ranges.count) | (entry.isForked ? Have.forkedBit : 0))
        for range in entry.ranges {
            append(bigEndian: range.numbers.lowerBound)
            append(bigEndian: range.numbers.upperBound)
            self += range.lastID.digest.bytes
        }
    }

    mutating func append(_ log: LogID) {
        self += log.author.bytes
        append(bigEndian: log.incarnation.value)
        self += log.audience.bytes
    }
}

extension ByteReader {
    mutating func log() throws(WireError) -> LogID {
        LogID(author: try peer(), incarnation: Incarnation(try integer()), audience: try bytes32())
    }

    mutating func haveEntry() throws(WireError) -> Have.Entry {
        let log = try log()
        let mark = try byte()
        let count = mark & ~Have.forkedBit
        guard count <= EventRanges.maximumCount else { throw .invalid(what: "the count of ranges") }
        var lowest: UInt64 = 1
        var ranges: [EventRange] = []
        for _ in 0..<count {
            let first: UInt64 = try integer()
            let last: UInt64 = try integer()
            guard first >= lowest, first <= last, last <= Batch.maximumNumber else {
                throw .invalid(what: "a range")
            }
            lowest = last + 2
            ranges.append(EventRange(numbers: first...last, lastID: EventID(try bytes32())))
        }
        return Have.Entry(log: log, ranges: ranges, isForked: mark & Have.forkedBit != 0)
    }

    mutating func flag() throws(WireError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .invalid(what: "a flag")
        }
    }
}
