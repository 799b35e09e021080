import ChatModel
import Identity

/// What of the newest rows of the table batch is still to go into the table line, so that it isn't read and hashed again.
struct UnindexedLines {
    /// A row of the table line.
    struct Line {
        var clock: HybridTime
        var author: PeerID
        var number: UInt64
        var id: EventID
        var row: Int64
        var place: Int
        var kind: EventKind

        init(_ stored: StoredBatch, _ place: Int) {
            let position = stored.position(at: place)
            clock = position.clock
            author = position.author
            number = position.number
            id = position.id
            row = stored.row
            self.place = place
            kind = stored.batch.events[place].kind
        }
    }

    /// The rows, all after the first number and up to the second.
    private var rows: (after: Int64, last: Int64) = (0, 0)
    private var lines: [Line] = []

    /// Takes the lines of rows that were just committed; of what came before them only if none is missing in between.
    mutating func add(_ more: [Line], ofRowsAfter first: Int64, upTo last: Int64) {
        if last == first { return }
        if rows.last != first {
            rows.after = first
            lines = []
        }
        rows.last = last
        lines += more
    }

    /// - Returns: `nil` if not all of these rows are known here.
    func lines(ofRowsAfter first: Int64, upTo last: Int64) -> ArraySlice<Line>? {
        guard rows.after <= first, last <= rows.last else { return nil }
        let start = lines.firstIndex { $0.row > first } ?? lines.endIndex
        return lines[start...].prefix { $0.row <= last }
    }

    mutating func forget(upTo last: Int64) {
        guard last > rows.after else { return }
        rows.after = min(last, rows.last)
        lines.removeFirst(lines.firstIndex { $0.row > last } ?? lines.endIndex)
    }
}
