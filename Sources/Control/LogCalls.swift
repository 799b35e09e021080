/// Which lines of the transcript are asked for.
public struct LogParameters: Codable, Sendable, Equatable {
    /// How many rows at most: the newest ones, or with ``after`` the first ones.
    public var count: Int
    /// The id of an event: of the rows that stand before it, those next to it.
    ///
    /// Only for ``ControlMethod/log``.
    public var before: String?
    /// With ``before``: the ``LogResult/start`` of the page that follows; then the rows have cursors.
    public var end: String?
    /// A row's cursor: what came after it, in the order in which it came.
    public var after: String?
    /// The earliest time that a row may show; milliseconds since 1970.
    public var since: Int?
    /// The latest time that a row may show; milliseconds since 1970.
    public var until: Int?
    /// Whose rows: a key, at least six digits of one, or a display name.
    public var from: String?

    public init(count: Int, before: String? = nil, after: String? = nil) {
        self.count = count
        self.before = before
        self.after = after
    }

    /// - Throws: What can't be meant.
    func check() throws(ControlError) {
        guard count >= 0 else { throw .badParameters("count: less than 0") }
        if let before, before.utf8.count != 64 || !before.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            throw .badParameters("before: not 64 hexadecimal digits")
        }
        if before != nil, after != nil { throw .badParameters("before and after: one of them") }
        if let since, since < 0 { throw .badParameters("since: less than 0") }
        if let until, until < 0 { throw .badParameters("until: less than 0") }
    }
}

public struct LogResult: Codable, Sendable, Equatable {
    /// Oldest first; after a cursor in the order in which they came.
    public var lines: [LineView]
    /// What ``LogParameters/before`` is for the page before this one; `nil` when there is none.
    public var earlier: String?
    /// Whether more came than was asked for; only after a cursor.
    ///
    /// A `watch` follows nothing then: ask for the rest first.
    public var more: Bool?
    /// What ``LogParameters/after`` is to go on behind all that was looked at.
    public var cursor: String?
    /// What ``LogParameters/end`` is for the page before this one.
    public var start: String?

    public init(
        lines: [LineView], earlier: String? = nil, more: Bool? = nil, cursor: String? = nil, start: String? = nil
    ) {
        self.lines = lines
        self.earlier = earlier
        self.more = more
        self.cursor = cursor
        self.start = start
    }
}
