import Identity

/// The TXT record of an advert: `v`, `room` and `id` (docs/protocol.md, "Adverts").
enum AdvertText {
    static let version = "1"
    /// The largest TXT record looked at, in bytes of its strings with their lengths (RFC 6763, 6.2).
    static let maximumLength = 1300

    static func strings(room: String, peer: PeerID) -> [[UInt8]] {
        ["v=\(version)", "room=\(room)", "id=\(peer)"].map { Array($0.utf8) }
    }

    /// Whose advert of `room` these strings are.
    ///
    /// What comes here is anybody's: `nil` unless version and room are exactly ours and `id` is a peer's 64 digits.
    /// Of a repeated key only the first counts, keys are compared without case, and unknown ones are passed over
    /// (RFC 6763, 6.4).
    static func peer(in strings: [[UInt8]], room: String) -> PeerID? {
        guard strings.reduce(0, { $0 + $1.count + 1 }) <= maximumLength else { return nil }
        var values: [String: ArraySlice<UInt8>] = [:]
        for string in strings {
            guard let equals = string.firstIndex(of: UInt8(ascii: "=")), equals > 0 else { continue }
            let key = String(decoding: string[..<equals], as: UTF8.self).lowercased()
            if values[key] == nil { values[key] = string[(equals + 1)...] }
        }
        guard let id = values["id"], id.count == 64, id.allSatisfy({ $0 < 128 }),
            values["v"].map({ $0.elementsEqual(version.utf8) }) == true,
            values["room"].map({ $0.elementsEqual(room.utf8) }) == true
        else { return nil }
        return PeerID(String(decoding: id, as: UTF8.self))
    }
}
