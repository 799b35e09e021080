import Identity

/// Joins batches of one log as they lie on the disk into few that go over the wire.
///
/// The last seal stands for all events up to it, so the inner ones are left out: who catches up with a log in which each
/// event has a seal of its own verifies one signature for up to 256 events (docs/protocol.md, "Have and Want").
public struct BatchJoiner {
    /// Batches under one seal, as they go over the wire.
    public struct Joined: Equatable, Sendable {
        public var first: UInt64
        public var last: UInt64
        /// How many of the batches that were added it is made of.
        public var parts: Int
        public fileprivate(set) var count: Int
        public fileprivate(set) var bytes: [UInt8]
    }

    private static let countOffset = 32 + 16 + 32 + 8 + 32
    private static let headLength = countOffset + 2

    public private(set) var joined: [Joined] = []

    public init() {}

    /// Adds the next batch, which begins at or before the number after the last one's end.
    ///
    /// - Parameters:
    ///   - bytes: As sealed. What is not a batch is kept as it is, and joined with nothing.
    ///   - numbers: Those of its events.
    public mutating func add(_ bytes: [UInt8], numbers: ClosedRange<UInt64>) {
        let count = numbers.count
        if let place = joined.indices.last, numbers.lowerBound > joined[place].first,
            numbers.lowerBound <= joined[place].last + 1, numbers.upperBound > joined[place].last,
            let start = Self.offset(ofEvent: Int(joined[place].last + 1 - numbers.lowerBound), in: bytes, of: count)
        {
            let fresh = Int(numbers.upperBound - joined[place].last)
            let length = joined[place].bytes.count - Signature.length + bytes.count - start
            if joined[place].count + fresh <= Batch.maximumCount, length <= Batch.maximumLength {
                joined[place].bytes.removeLast(Signature.length)
                joined[place].bytes += bytes[start...]
                joined[place].last = numbers.upperBound
                joined[place].count += fresh
                joined[place].parts += 1
                Self.write(joined[place].count, into: &joined[place].bytes)
                return
            }
        }
        joined.append(
            Joined(first: numbers.lowerBound, last: numbers.upperBound, parts: 1, count: count, bytes: bytes))
    }

    /// How many events bytes hold that are a batch; what others say means nothing.
    public static func count(in bytes: [UInt8]) -> Int? {
        bytes.count < headLength ? nil : Int(bytes[countOffset]) << 8 | Int(bytes[countOffset + 1])
    }

    /// Where an event begins; `nil` if the bytes aren't as long as they say.
    private static func offset(ofEvent index: Int, in bytes: [UInt8], of count: Int) -> Int? {
        guard index < count, bytes.count > headLength + Signature.length else { return nil }
        var offset = headLength
        for _ in 0..<index {
            let end = offset + Batch.eventOverhead
            guard end <= bytes.count - Signature.length else { return nil }
            offset = end + bytes[end - 4..<end].reduce(0) { $0 << 8 | Int($1) }
        }
        return offset < bytes.count - Signature.length ? offset : nil
    }

    private static func write(_ count: Int, into bytes: inout [UInt8]) {
        bytes[countOffset] = UInt8(truncatingIfNeeded: count >> 8)
        bytes[countOffset + 1] = UInt8(truncatingIfNeeded: count)
    }
}

extension LogID {
    /// The log that bytes which may be a batch of this author's say they are of; `nil` if they are too short.
    init?(ofBatch bytes: [UInt8], by author: PeerID) {
        guard bytes.count >= 32 + 16 + 32, let audience = Bytes32(bytes[48..<80]) else { return nil }
        let incarnation = bytes[32..<48].reduce(0) { $0 << 8 | UInt128($1) }
        self.init(author: author, incarnation: Incarnation(incarnation), audience: audience)
    }
}
