import Identity

/// What a peer has on its disk of the room's logs, read anew for whoever asked (docs/protocol.md, "Verify").
///
/// The id at the end of a range is a digest of the whole range: each id is a hash over the one before it.
public struct Verified: Hashable, Sendable {
    /// One log's entry.
    public struct Entry: Hashable, Sendable {
        public var have: Have.Entry
        /// Its author gave one number to two events: hosts may hold either, and it isn't compared.
        public var isForked: Bool
        /// Its author is blocked there, and so nothing of it is kept.
        public var isLeftOut: Bool

        public init(_ have: Have.Entry, isForked: Bool = false, isLeftOut: Bool = false) {
            self.have = have
            self.isForked = isForked
            self.isLeftOut = isLeftOut
        }

        fileprivate var encodedLength: Int { have.encodedLength + 1 }
    }

    /// The question that this answers.
    public var question: UInt64
    /// Whether another page follows.
    public var isContinued: Bool
    public var entries: [Entry]

    public init(question: UInt64, entries: [Entry], isContinued: Bool = false) {
        self.question = question
        self.entries = entries
        self.isContinued = isContinued
    }

    /// Divides an answer into messages that fit a frame; at least one, even if empty.
    public static func pages(_ entries: [Entry], answering question: UInt64) -> [Verified] {
        var pages = [Verified(question: question, entries: [])]
        var length = 0
        for entry in entries {
            if length + entry.encodedLength > SessionMessage.controlLimit - 16 {
                pages[pages.count - 1].isContinued = true
                pages.append(Verified(question: question, entries: []))
                length = 0
            }
            pages[pages.count - 1].entries.append(entry)
            length += entry.encodedLength
        }
        return pages
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: question)
        bytes.append(isContinued ? 1 : 0)
        bytes.append(bigEndian: UInt16(entries.count))
        for entry in entries {
            bytes.append((entry.isForked ? 1 : 0) | (entry.isLeftOut ? 2 : 0))
            bytes.append(entry.have)
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        question = try reader.integer()
        isContinued = try reader.flag()
        let count: UInt16 = try reader.integer()
        entries = try (0..<count).map { _ throws(WireError) in
            let flags = try reader.byte()
            guard flags < 4 else { throw .invalid(what: "a log's flags") }
            return Entry(try reader.haveEntry(), isForked: flags & 1 != 0, isLeftOut: flags & 2 != 0)
        }
        try reader.finish()
    }
}

/// Numbers of a log that two hosts don't both hold, or don't hold the same events of.
public struct Difference: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case lackedThere, lackedHere
        /// Both hold something, and not the same.
        case other
    }

    public var log: LogID
    public var numbers: ClosedRange<UInt64>
    public var kind: Kind

    public init(log: LogID, numbers: ClosedRange<UInt64>, kind: Kind) {
        self.log = log
        self.numbers = numbers
        self.kind = kind
    }
}

/// Compares what two hosts have, by ranges and the digests at their ends.
public enum Comparison {
    /// What the other host lacks of ours, or has otherwise.
    ///
    /// - Parameters:
    ///   - ours: What has to be there.
    ///   - theirs: The other host's answer, all its pages.
    ///   - id: The id of one of our events.
    /// - Returns: In the order of the logs' authors.
    public static func missing(
        of ours: [LogID: EventRanges], in theirs: [Verified.Entry], id: (LogID, UInt64) throws -> EventID?
    ) rethrows -> [Difference] {
        let answers = Dictionary(theirs.map { ($0.have.log, $0) }) { first, _ in first }
        var differences: [Difference] = []
        for (log, ranges) in ours.sorted(by: order) {
            let answer = answers[log]
            if answer?.isForked == true || answer?.isLeftOut == true { continue }
            let held = EventRanges(answer?.have.ranges ?? [])
            differences += held.missing(of: ranges).map { Difference(log: log, numbers: $0, kind: .lackedThere) }
            for range in held.all {
                let end = range.numbers.upperBound
                guard let mine = ranges.range(with: end), let own = try id(log, end),
                    own != range.lastID
                else { continue }
                differences.append(Difference(log: log, numbers: mine.numbers.clamped(to: range.numbers), kind: .other))
            }
        }
        return differences
    }

    /// What we lack of what the other host has, in the logs that `isTaken` says we keep.
    public static func missing(
        here ours: [LogID: EventRanges], of theirs: [Verified.Entry], where isTaken: (LogID) -> Bool
    ) -> [Difference] {
        theirs.filter { !$0.isForked && !$0.isLeftOut && isTaken($0.have.log) }.flatMap { entry in
            (ours[entry.have.log] ?? EventRanges()).missing(of: EventRanges(entry.have.ranges)).map {
                Difference(log: entry.have.log, numbers: $0, kind: .lackedHere)
            }
        }
    }

    private static func order(_ left: (key: LogID, value: EventRanges), _ right: (key: LogID, value: EventRanges))
        -> Bool
    {
        (left.key.author, left.key.incarnation) < (right.key.author, right.key.incarnation)
    }
}
