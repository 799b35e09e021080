import ChatModel
import Identity

/// The ids of events in the newest rows of the table batch, which are still to go into the table tags, so that they
/// aren't read and hashed again.
struct UntaggedEvents {
    /// By what an event is found.
    struct Entry: Equatable {
        /// The beginning of its id.
        var tag: UInt32
        /// Its place in the order of arrival.
        var arrival: Int64

        var row: Int64 { arrival >> 8 }
        var place: Int { Int(arrival & 255) }
    }

    /// The rows, all after the first number and up to the second.
    private var rows: (after: Int64, last: Int64) = (0, 0)
    private var entries: [Entry] = []

    /// Takes the events of rows that were just committed; of what came before them only if none is missing in between.
    mutating func add(_ more: [Entry], ofRowsAfter first: Int64, upTo last: Int64) {
        if last == first { return }
        if rows.last != first {
            rows.after = first
            entries = []
        }
        rows.last = last
        entries += more
    }

    /// - Returns: `nil` if not all of these rows are known here.
    func entries(ofRowsAfter first: Int64, upTo last: Int64) -> ArraySlice<Entry>? {
        guard rows.after <= first, last <= rows.last else { return nil }
        let start = entries.firstIndex { $0.row > first } ?? entries.endIndex
        return entries[start...].prefix { $0.row <= last }
    }

    mutating func forget(upTo last: Int64) {
        guard last > rows.after else { return }
        rows.after = min(last, rows.last)
        entries.removeFirst(entries.firstIndex { $0.row > last } ?? entries.endIndex)
    }
}

extension StoredBatch {
    /// What the events that came with it are found by.
    var entries: [UntaggedEvents.Entry] {
        places.map { UntaggedEvents.Entry(tag: batch.ids[$0].tag, arrival: row << 8 | Int64($0)) }
    }
}

extension EventID {
    /// The first four bytes.
    var tag: UInt32 { digest.withBytes { UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)) } }
}
