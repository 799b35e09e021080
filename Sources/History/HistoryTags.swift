import ChatModel
import Identity

/// Finding events by their ids, by the table tags.
///
/// Each time that enough events have come, one segment is written of them: their tags in ``bucketCount`` rows by the tags'
/// first bits. It is never changed again, so that an event costs as much in a long history as in a short one; a look-up
/// reads one row of each segment. Of what came since, the tags are in memory, or read from the batches when they are needed.
extension History {
    private static let bucketBits = 7
    private static let bucketCount = 1 << bucketBits
    private static let entryLength = 4 + 8  // bytes: tag, arrival

    /// Where events are that may have an id.
    func places(of id: EventID) throws(HistoryError) -> [EventPlace] {
        var arrivals = try untaggedEntries().filter { $0.tag == id.tag }.map(\.arrival)
        let segments = try reader.first(
            "SELECT max(row) FROM tags", [], { $0.isNull(0) ? 0 : $0.integer(0) >> Self.bucketBits })
        for segment in 0...(segments ?? 0) {
            let row = segment << Self.bucketBits | Int64(Self.bucket(of: id.tag))
            let entries = try reader.first("SELECT entries FROM tags WHERE row = ?", [.integer(row)], { $0.blob(0) })
            arrivals += entries.map { Self.arrivals(of: id.tag, in: $0) } ?? []
        }
        return arrivals.map { EventPlace(row: $0 >> 8, index: Int($0 & 255)) }
    }

    private static func bucket(of tag: UInt32) -> Int { Int(tag >> (32 - bucketBits)) }

    private static func arrivals(of tag: UInt32, in entries: [UInt8]) -> [Int64] {
        entries.withUnsafeBytes { bytes in
            stride(from: 0, through: bytes.count - entryLength, by: entryLength).compactMap { offset in
                guard UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) == tag else {
                    return nil
                }
                return Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: Int64.self))
            }
        }
    }

    /// The entries of all events that are in no segment.
    private func untaggedEntries() throws(HistoryError) -> ArraySlice<UntaggedEvents.Entry> {
        if tagged >= newestRow { return [] }
        if let known = untagged.entries(ofRowsAfter: tagged, upTo: newestRow) { return known }
        let found = try entriesFromDisk(upTo: newestRow, atMost: .max).entries
        untagged = UntaggedEvents()
        untagged.add(found, ofRowsAfter: tagged, upTo: newestRow)
        return found[...]
    }

    /// Writes segments while there are events enough for one.
    ///
    /// A failure is no error: the next write tries again.
    func bringTagsCurrent() {
        while untaggedCount >= segmentLength {
            do throws(HistoryError) { try writeSegment() } catch { return }
        }
    }

    private func writeSegment() throws(HistoryError) {
        let entries: [UntaggedEvents.Entry]
        let last: Int64
        if let known = untagged.entries(ofRowsAfter: tagged, upTo: newestRow) {
            (entries, last) = (Array(known), newestRow)
        } else {
            (entries, last) = try entriesFromDisk(upTo: newestRow, atMost: segmentLength)
        }
        var buckets = [[UInt8]](repeating: [], count: Self.bucketCount)
        for entry in entries {
            buckets[Self.bucket(of: entry.tag)].append(bigEndian: entry.tag)
            buckets[Self.bucket(of: entry.tag)].append(bigEndian: entry.arrival)
        }
        try writer.transaction { () throws(HistoryError) in
            let newest =
                try writer.first("SELECT max(row) FROM tags", [], { $0.isNull(0) ? nil : $0.integer(0) }) ?? nil
            let segment = newest.map { $0 >> Self.bucketBits + 1 } ?? 0
            for (bucket, bytes) in buckets.enumerated() where !bytes.isEmpty {
                try writer.run(
                    "INSERT INTO tags VALUES (?, ?)",
                    [.integer(segment << Self.bucketBits | Int64(bucket)), .blob(bytes)])
            }
            try writer.run("UPDATE birth SET indexed = ?", [.integer(last)])
        }
        tagged = last
        untagged.forget(upTo: last)
        untaggedCount = last == newestRow ? 0 : untaggedCount - entries.count
    }

    /// Reads on from ``tagged`` until there are so many, or to a row.
    private func entriesFromDisk(
        upTo last: Int64, atMost count: Int
    ) throws(HistoryError) -> (entries: [UntaggedEvents.Entry], last: Int64) {
        var (entries, end): ([UntaggedEvents.Entry], Int64) = ([], tagged)
        try reader.run(
            "SELECT \(StoredBatch.columns) FROM batch WHERE row > ? AND row <= ? ORDER BY row",
            [.integer(tagged), .integer(last)]
        ) { row throws(HistoryError) in
            entries += storedBatch(row)?.entries ?? []
            end = row.integer(0)
            return entries.count < count
        }
        return (entries, entries.count < count ? last : end)
    }

    /// Counts the events that are in no segment yet.
    func countUntagged() throws(HistoryError) -> Int {
        let count = try reader.first(
            "SELECT sum(last - fresh + 1) FROM batch WHERE row > ?", [.integer(tagged)], { $0.integer(0) })
        return Int(clamping: count ?? 0)
    }
}
