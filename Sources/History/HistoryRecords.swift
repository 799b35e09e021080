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

    /// Keeps a peer's name, and when it was last seen in milliseconds since 1970.
    public func remember(_ peer: PeerID, name: String, seen: UInt64) throws(HistoryError) {
        try change(
            "INSERT INTO peer VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET name = excluded.name, seen = excluded.seen",
            [.blob(peer.bytes), .text(name), .integer(Int64(clamping: seen))])
    }

    /// Everybody who was remembered, last seen first; nobody when that can't be read.
    public func knownPeers() -> [KnownPeer] {
        guard (try? requireOpen()) != nil else { return [] }
        let peers = try? reader.all("SELECT key, name, seen FROM peer ORDER BY seen DESC, key") { row in
            PeerID(row.blob(0)).map { peer in
                KnownPeer(peer: peer, name: row.text(1) ?? "", lastSeen: UInt64(clamping: row.integer(2)))
            }
        }
        return (peers ?? []).compactMap(\.self)
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
