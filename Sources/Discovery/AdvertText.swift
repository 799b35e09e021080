import Identity

/// The TXT record of an advert: `v`, `room` and `id`, or of a keyed room `v` and `t` (docs/protocol.md, "Discovery").
enum AdvertText {
    static let version = "1"
    /// The largest TXT record looked at, in bytes of its strings with their lengths (RFC 6763, 6.2).
    static let maximumLength = 1300

    static func strings(room: String, peer: PeerID) -> [[UInt8]] {
        ["v=\(version)", "room=\(room)", "id=\(peer)"].map { Array($0.utf8) }
    }

    static func strings(_ announcement: Announcement) -> [[UInt8]] {
        guard let concealment = announcement.concealment else {
            return strings(room: announcement.room, peer: announcement.peer)
        }
        let tag = concealment.key.tag(ofInstance: Array(concealment.instance.utf8))
        return [Array("v=\(version)".utf8), Array("t=".utf8) + tag]
    }

    /// Whether these strings are a member's advert in a keyed room, our own too.
    static func isMember(_ strings: [[UInt8]], instance: [UInt8], _ concealment: Concealment) -> Bool {
        guard let values = values(of: strings), let tag = values["t"], isOurVersion(values) else { return false }
        return HMAC.areEqual(Array(tag), concealment.key.tag(ofInstance: instance))
    }

    /// Whose advert of `room` these strings are.
    ///
    /// What comes here is anybody's: `nil` unless version and room are exactly ours and `id` is a peer's 64 digits.
    /// Of a repeated key only the first counts, keys are compared without case, and unknown ones are passed over
    /// (RFC 6763, 6.4).
    static func peer(in strings: [[UInt8]], room: String) -> PeerID? {
        guard let values = values(of: strings), let id = values["id"], id.count == 64,
            id.allSatisfy({ $0 < 128 }), isOurVersion(values),
            values["room"].map({ $0.elementsEqual(room.utf8) }) == true
        else { return nil }
        return PeerID(String(decoding: id, as: UTF8.self))
    }

    private static func isOurVersion(_ values: [String: ArraySlice<UInt8>]) -> Bool {
        values["v"].map { $0.elementsEqual(version.utf8) } == true
    }

    private static func values(of strings: [[UInt8]]) -> [String: ArraySlice<UInt8>]? {
        guard strings.reduce(0, { $0 + $1.count + 1 }) <= maximumLength else { return nil }
        var values: [String: ArraySlice<UInt8>] = [:]
        for string in strings {
            guard let equals = string.firstIndex(of: UInt8(ascii: "=")), equals > 0 else { continue }
            let key = String(decoding: string[..<equals], as: UTF8.self).lowercased()
            if values[key] == nil { values[key] = string[(equals + 1)...] }
        }
        return values
    }
}
