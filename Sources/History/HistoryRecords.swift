import Addressing
public import ChatModel
import Glibc
public import Identity

extension History {
    /// Keeps how an image's journey ended; a later word takes the place of an earlier one.
    public func note(_ id: EventID, image: ImageOutcome) throws(HistoryError) {
        try change(
            """
            INSERT INTO image (id, outcome, detail) VALUES (?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, detail = excluded.detail
            """,
            [.blob(id.digest.bytes), .integer(image.code), image.detail.map { .text($0) } ?? .null])
    }

    func outcome(of id: EventID) throws(HistoryError) -> ImageOutcome? {
        try reader.first("SELECT outcome, detail FROM image WHERE id = ?", [.blob(id.digest.bytes)]) { row in
            row.isNull(0) ? nil : ImageOutcome(code: row.integer(0), detail: row.text(1) ?? "")
        } ?? nil
    }

    /// Keeps what is known of a peer, in place of what was; a void record leaves nothing.
    public func remember(_ peer: PeerID, _ record: PeerRecord) throws(HistoryError) { try remember([peer: record]) }

    /// Keeps what is known of some peers, in place of what was, in one commit.
    public func remember(_ records: [PeerID: PeerRecord]) throws(HistoryError) {
        try requireWritable()
        try writer.transaction { () throws(HistoryError) in
            for (peer, record) in records { try keep(record, of: peer) }
            try writer.run(
                "DELETE FROM address WHERE key NOT IN (SELECT key FROM peer ORDER BY seen DESC, key LIMIT ?)",
                [.integer(Int64(Self.peersWithAddresses))])
        }
    }

    private func keep(_ record: PeerRecord, of peer: PeerID) throws(HistoryError) {
        if record.isVoid { return try forget(peer) }
        try writer.run(
            "INSERT OR REPLACE INTO peer VALUES (?, ?, ?)",
            [.blob(peer.bytes), .text(record.name), .integer(Int64(clamping: record.lastSeen))])
        try writer.run(
            "INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?)",
            [
                .blob(peer.bytes), .integer(Int64(clamping: record.firstSeen)),
                .integer(Int64(clamping: record.namedSince)), .integer(Int64(record.verdict.rawValue)),
            ])
        guard !record.addresses.isEmpty else {
            return try writer.run("DELETE FROM address WHERE key = ?", [.blob(peer.bytes)])
        }
        try writer.run(
            "INSERT OR REPLACE INTO address VALUES (?, ?)",
            [.blob(peer.bytes), .blob(record.addresses.prefix(PeerRecord.maximumAddresses).flatMap(\.encoded))])
    }

    private func forget(_ peer: PeerID) throws(HistoryError) {
        for sql in [
            "DELETE FROM peer WHERE key = ?", "DELETE FROM standing WHERE key = ?",
            "DELETE FROM address WHERE key = ?", "DELETE FROM receipt WHERE holder = ?",
        ] { try writer.run(sql, [.blob(peer.bytes)]) }
    }

    /// How many peers' addresses are kept.
    static let peersWithAddresses = 256

    /// Everybody who was remembered, last seen first; nobody when that can't be read.
    public func knownPeers() -> [KnownPeer] {
        guard (try? requireOpen()) != nil else { return [] }
        // Whoever was remembered before there was a standing was met by then.
        let peers = try? reader.all(
            """
            SELECT key, name, seen, coalesce(first, seen), coalesce(named, seen), coalesce(verdict, 0), endpoints
            FROM peer LEFT JOIN standing USING (key) LEFT JOIN address USING (key) ORDER BY seen DESC, key
            """
        ) { row in
            PeerID(row.blob(0)).map { peer in
                let record = PeerRecord(
                    name: row.text(1) ?? "", firstSeen: UInt64(clamping: row.integer(3)),
                    namedSince: UInt64(clamping: row.integer(4)), lastSeen: UInt64(clamping: row.integer(2)),
                    verdict: PeerRecord.Verdict(rawValue: Int(row.integer(5))) ?? .none,
                    addresses: row.isNull(6) ? [] : Self.addresses(row.blob(6)))
                return KnownPeer(peer: peer, record: record)
            }
        }
        return (peers ?? []).compactMap(\.self)
    }

    /// Those of whom we hold events for the room, with the name in the newest of them; empty where that can't be read.
    public func authors() -> [PeerID: String] {
        guard (try? requireOpen()) != nil else { return [:] }
        return logs.reduce(into: [:]) { names, entry in
            guard entry.key.isForRoom else { return }
            let batch = try? storedBatch(in: reader, covering: entry.value.ranges.last, of: entry.value.row)?.batch
            let name = batch?.events.last.flatMap { try? EventBody.decode($0.kind, $0.body)?.authorName }
            if names[entry.key.author]?.isEmpty ?? true { names[entry.key.author] = name ?? "" }
        }
    }

    private static func addresses(_ bytes: [UInt8]) -> [Endpoint] {
        var rest = bytes[...]
        var addresses: [Endpoint] = []
        while addresses.count < PeerRecord.maximumAddresses, let next = Endpoint(takenFrom: &rest) {
            addresses.append(next)
        }
        return addresses
    }

    /// A value that was set; `nil` also when it can't be read.
    public func setting(_ key: String) -> String? {
        guard (try? requireOpen()) != nil else { return nil }
        let value = try? reader.first("SELECT value FROM setting WHERE key = ?", [.text(key)], { $0.text(0) })
        return value ?? nil
    }

    /// Keeps a value under a key; `nil` removes it.
    public func set(_ key: String, _ value: String?) throws(HistoryError) {
        guard let value else { return try change("DELETE FROM setting WHERE key = ?", [.text(key)]) }
        try change(
            "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [.text(key), .text(value)])
    }

    private func change(_ sql: String, _ values: [SQLValue]) throws(HistoryError) {
        try requireWritable()
        try writer.transaction { () throws(HistoryError) in try writer.run(sql, values) }
    }

    /// Our wall clock in milliseconds since 1970.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(time.tv_sec, 0)) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

/// As in the columns outcome and detail.
extension ImageOutcome {
    fileprivate var code: Int64 {
        switch self {
        case .received: 1
        case .refused: 2
        case .failed: 3
        case .sent: 4
        }
    }

    fileprivate var detail: String? {
        switch self {
        case .received(let path): path
        case .refused(let reason), .failed(let reason): reason
        case .sent: nil
        }
    }

    fileprivate init?(code: Int64, detail: String) {
        switch code {
        case 1: self = .received(detail)
        case 2: self = .refused(detail)
        case 3: self = .failed(detail)
        case 4: self = .sent
        default: return nil
        }
    }
}
