import Identity

/// The name that a peer's records go by.
enum InstanceName {
    static let maximumLength = 63  // bytes: a DNS label (RFC 1035, 2.3.4)
    static let usualDigits = 6
    private static let nameless = "peer"

    /// As ``Discovery/instanceName(displayName:peer:)``, with a number of the PeerID's digits: more of them give another
    /// name for the same peer.
    static func make(displayName: String, peer: PeerID, digits: Int) -> String {
        let suffix = "-" + peer.description.prefix(digits)
        let name = displayName.cut(toBytes: maximumLength - suffix.utf8.count)
        return (name.isEmpty ? nameless : name) + suffix
    }

    /// The digits after a number of collisions: 6, 12, 18, then always 24.
    static func digits(afterCollisions count: Int) -> Int { usualDigits * min(count + 1, 4) }
}

extension String {
    /// The longest beginning of whole characters that has at most `limit` bytes of UTF-8.
    func cut(toBytes limit: Int) -> String {
        var end = startIndex
        while end < endIndex {
            let next = index(after: end)
            if utf8.distance(from: startIndex, to: next) > limit { break }
            end = next
        }
        return String(self[..<end])
    }
}
