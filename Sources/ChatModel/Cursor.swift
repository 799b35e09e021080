/// How far somebody has read what came to one database: everything up to an arrival (docs/protocol.md, "Local API").
///
/// An event's id would not do: lines are printed in the order of the transcript, and what comes late stands before what was
/// read long ago.
public struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// Of the database; a lost or restored one has another.
    public var birth: Incarnation
    /// Of the last event that was read.
    public var arrival: Int64

    public init(birth: Incarnation, arrival: Int64) {
        self.birth = birth
        self.arrival = arrival
    }

    /// Parses what ``description`` gives.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let birth = Nonce(hexadecimal: parts[0]), let arrival = Int64(parts[1]),
            arrival >= 0, "\(arrival)" == parts[1]
        else { return nil }
        self.init(birth: Incarnation(birth.value), arrival: arrival)
    }

    /// 32 hexadecimal digits, a hyphen, a number.
    public var description: String { "\(Nonce(birth.value))-\(arrival)" }
}
