public import Identity

/// Whom a user means by a word: a key, the beginning of one, or a display name.
public enum PeerQuery {
    public static let shortestPrefix = 6  // digits

    public enum Answer: Hashable, Sendable {
        case one(PeerID)
        case nobody
        /// In the order of their keys.
        case several([PeerID])
    }

    /// Looks a word up.
    ///
    /// - Parameters:
    ///   - word: 64 hexadecimal digits are that key, met or not. At least six are the beginning of one. Else, and as
    ///     well, a whole display name.
    ///   - names: Those who may be meant.
    /// - Returns: Somebody only where nobody else can be meant.
    public static func find(_ word: String, among names: [PeerID: String]) -> Answer {
        if let peer = PeerID(word) { return .one(peer) }
        let digits = word.lowercased()
        let isPrefix = digits.utf8.count >= shortestPrefix && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        let found = names.filter { peer, name in
            name == word || (isPrefix && peer.description.hasPrefix(digits))
        }.keys.sorted()
        guard let first = found.first else { return .nobody }
        return found.count == 1 ? .one(first) : .several(found)
    }

    /// Peers as a user can tell them apart: `alice (a1b2c3), bob (d4e5f6)`, with more digits where six are the same.
    public static func list(_ peers: [PeerID], names: [PeerID: String]) -> String {
        peers.map { peer in
            let digits = digits(of: peer, among: peers)
            guard let name = names[peer], !name.isEmpty else { return digits }
            return "\(SafeText.name(name)) (\(digits))"
        }.joined(separator: ", ")
    }

    /// The fewest digits of a key, and six at least, that no other of these has.
    private static func digits(of peer: PeerID, among peers: [PeerID]) -> String {
        let key = peer.description
        let others = peers.filter { $0 != peer }.map(\.description)
        let count = (shortestPrefix...key.count).first { count in
            others.allSatisfy { $0.prefix(count) != key.prefix(count) }
        }
        return String(key.prefix(count ?? key.count))
    }
}
