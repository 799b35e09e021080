public import ChatModel
public import Identity

/// What is kept of who has stored what (docs/protocol.md, "Receipts").
public struct DeliveryRecords: Sendable {
    public var rosters: [LogID: [DeliveryBook.Roster]] = [:]
    public var holdings: [PeerID: [LogID: [ClosedRange<UInt64>]]] = [:]
    public var receipts: [Receipt] = []

    /// Nothing is known of anybody.
    public init() {}
}

extension Schema {
    static let deliveryTables = [
        """
        CREATE TABLE roster (
            log INTEGER NOT NULL REFERENCES log, first INTEGER NOT NULL, members BLOB NOT NULL, PRIMARY KEY (log, first)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE holding (
            log INTEGER NOT NULL REFERENCES log, peer BLOB NOT NULL, ranges BLOB NOT NULL, PRIMARY KEY (log, peer)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE receipt (holder BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID",
    ]
}

extension History {
    /// All that is kept; what can't be read is left out.
    public func deliveryRecords() -> DeliveryRecords {
        var records = DeliveryRecords()
        guard (try? requireOpen()) != nil else { return records }
        try? reader.run("SELECT log, first, members FROM roster ORDER BY log, first") { row in
            guard let log = logIDs[row.integer(0)] else { return true }
            let roster = DeliveryBook.Roster(first: UInt64(clamping: row.integer(1)), members: peers(in: row.blob(2)))
            records.rosters[log, default: []].append(roster)
            return true
        }
        try? reader.run("SELECT log, peer, ranges FROM holding") { row in
            guard let log = logIDs[row.integer(0)], let peer = PeerID(row.blob(1)) else { return true }
            records.holdings[peer, default: [:]][log] = ranges(in: row.blob(2))
            return true
        }
        try? reader.run("SELECT bytes FROM receipt ORDER BY holder") { row in
            if let receipt = try? Receipt(decoding: row.blob(0)), receipt.holds(in: room) {
                records.receipts.append(receipt)
            }
            return true
        }
        return records
    }

    /// Keeps for whom a log's events are from a number on; a log that isn't stored has no events to be for anybody.
    public func enroll(_ members: [PeerID], in log: LogID, from number: UInt64) throws(HistoryError) {
        guard let row = logs[log]?.row else { return }
        try requireWritable()
        try writer.transaction { () throws(HistoryError) in
            try writer.run(
                "INSERT OR REPLACE INTO roster VALUES (?, ?, ?)",
                [.integer(row), .integer(Int64(clamping: number)), .blob(members.flatMap(\.bytes))])
        }
    }

    /// Keeps what others have of own logs, and their receipts, in place of what was kept before.
    public func keep(
        holdings: [LogID: [PeerID: [ClosedRange<UInt64>]]], receipts: some Sequence<Receipt>
    ) throws(HistoryError) {
        try requireWritable()
        try writer.transaction { () throws(HistoryError) in
            for (log, peers) in holdings {
                guard let row = logs[log]?.row else { continue }
                for (peer, ranges) in peers { try keep(ranges, of: row, by: peer) }
            }
            for receipt in receipts {
                try writer.run(
                    "INSERT OR REPLACE INTO receipt VALUES (?, ?)", [.blob(receipt.holder.bytes), .blob(receipt.bytes)])
            }
        }
    }

    private func keep(_ ranges: [ClosedRange<UInt64>], of log: Int64, by peer: PeerID) throws(HistoryError) {
        if ranges.isEmpty {
            return try writer.run(
                "DELETE FROM holding WHERE log = ? AND peer = ?", [.integer(log), .blob(peer.bytes)])
        }
        let bytes = ranges.flatMap { [$0.lowerBound, $0.upperBound] }.flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
        }
        try writer.run(
            "INSERT OR REPLACE INTO holding VALUES (?, ?, ?)", [.integer(log), .blob(peer.bytes), .blob(bytes)])
    }

    private func peers(in bytes: [UInt8]) -> [PeerID] {
        stride(from: 0, to: bytes.count, by: 32).compactMap { PeerID(Array(bytes[$0..<min($0 + 32, bytes.count)])) }
    }

    private func ranges(in bytes: [UInt8]) -> [ClosedRange<UInt64>] {
        let numbers = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<min(start + 8, bytes.count)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        return stride(from: 0, to: numbers.count - 1, by: 2).compactMap { index in
            numbers[index] <= numbers[index + 1] ? numbers[index]...numbers[index + 1] : nil
        }
    }
}
