/// What a host that doesn't let in everybody says about it before all but its Hello (docs/protocol.md, "Admission").
public enum Waiting: UInt8, Hashable, Sendable {
    /// The peer is let in.
    case over = 0
    /// Somebody has to let it in; nothing else is said or listened to until then.
    case begins = 1

    var encoded: [UInt8] { [rawValue] }

    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard let value = Waiting(rawValue: try reader.byte()) else { throw .invalid(what: "a flag") }
        self = value
        try reader.finish()
    }
}

extension Hello {
    /// The feature bit of a host that says ``Waiting`` before all else.
    public static let saysWaiting: UInt32 = 1
    /// The sender understands ``Hints``.
    public static let takesHints: UInt32 = 2
}
