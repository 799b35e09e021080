import ChatModel
public import Identity

/// Which lines somebody wants to read.
public struct LineFilter: Hashable, Sendable {
    public var author: PeerID?
    /// The earliest and latest time that a line may show, both included; milliseconds since 1970.
    public var since: UInt64?
    public var until: UInt64?

    public init(author: PeerID? = nil, since: UInt64? = nil, until: UInt64? = nil) {
        self.author = author
        self.since = since
        self.until = until
    }

    public var isEmpty: Bool { self == LineFilter() }

    /// Whether a line by this author, who wrote it at this time, is wanted.
    public func takes(author: PeerID, time: UInt64) -> Bool {
        self.author.map { $0 == author } != false && since.map { $0 <= time } != false
            && until.map { time <= $0 } != false
    }

    /// How far a line's clock may be ahead of the time that it shows, in milliseconds: others pull a clock ahead by at most
    /// ``History/maximumClockLead``, and an author's own may have been set back.
    private static let clockSlack: UInt64 = 60 * 60 * 1_000

    /// Bounds of what has to be looked through, as conditions on the table run.
    var conditions: [(sql: String, value: SQLValue)] {
        var conditions: [(String, SQLValue)] = []
        if let author { conditions.append(("author = ?", .blob(author.bytes))) }
        // An honest clock is never behind the time that its author saw.
        if let since { conditions.append(("clock >= ?", .integer(Int64(ordering: Self.clock(since))))) }
        if let until {
            let (end, isOver) = until.addingReportingOverflow(Self.clockSlack)
            if !isOver { conditions.append(("start <= ?", .integer(Int64(ordering: Self.clock(end))))) }
        }
        return conditions
    }

    private static func clock(_ milliseconds: UInt64) -> UInt64 { HybridTime(milliseconds: milliseconds).value }
}

extension StoredLine {
    func isTaken(by filter: LineFilter) -> Bool { filter.takes(author: log.author, time: wallTime) }
}
