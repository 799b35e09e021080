public import Addressing
public import Identity

/// What is kept of a peer from one run to the next.
public struct PeerRecord: Hashable, Sendable {
    /// What this host's user said about it.
    public enum Verdict: Int, Hashable, Sendable {
        case none = 0
        /// It is who it says it is: no warning about its name, and it is let in.
        case trusted
        /// It isn't linked, and nothing that it writes is stored.
        case blocked
    }

    /// The name that is pinned to its key; empty for a key that was judged before it was met.
    public var name: String
    /// When it was met first on a link of our own, in milliseconds since 1970; 0 for never.
    public var firstSeen: UInt64
    /// Since when it has this name.
    public var namedSince: UInt64
    public var lastSeen: UInt64
    public var verdict: Verdict
    /// Where it has proven its key, latest first, at most ``maximumAddresses``; of link-local ones without the interface.
    public var addresses: [Endpoint]

    public static let maximumAddresses = 4

    public init(
        name: String, firstSeen: UInt64 = 0, namedSince: UInt64 = 0, lastSeen: UInt64 = 0, verdict: Verdict = .none,
        addresses: [Endpoint] = []
    ) {
        self.name = name
        self.firstSeen = firstSeen
        self.namedSince = namedSince
        self.lastSeen = lastSeen
        self.verdict = verdict
        self.addresses = addresses
    }

    /// Puts an address first among those where it has proven its key.
    mutating func reached(at endpoint: Endpoint) {
        let endpoint = endpoint.withoutScope
        addresses = Array(([endpoint] + addresses.filter { $0 != endpoint }).prefix(Self.maximumAddresses))
    }

    /// Whether it has proven its key on a link of our own.
    public var isMet: Bool { firstSeen > 0 }

    /// Whether it says nothing that is worth keeping: the peer was neither met nor judged.
    public var isVoid: Bool { !isMet && verdict == .none }
}

/// A name that belongs to another key, or looks as if it did.
public struct NameAlarm: Hashable, Sendable {
    /// Whose name it is.
    public var owner: PeerID
    /// The owner's name; another spelling of it where ``isSame`` is false.
    public var name: String
    /// Whether it is the very name.
    public var isSame: Bool

    public init(owner: PeerID, name: String, isSame: Bool) {
        self.owner = owner
        self.name = name
        self.isSame = isSame
    }

    /// One line for a listing.
    public var text: String {
        isSame
            ? "the name belongs to another key, \(owner.suffix)"
            : "the name looks like '\(SafeText.name(name))' (\(owner.suffix)), which is another key"
    }
}

/// Who is let into the room by this host.
public enum Admission: String, Hashable, Sendable, CaseIterable {
    /// Whoever is on the network.
    case open
    /// Those who were met before, or are trusted.
    case known
    /// These, and others when the user says so.
    case ask
}

/// What a user decides about a peer.
public enum PeerDecision: String, Hashable, Sendable, Codable, CaseIterable {
    case trust, block, unblock, accept, refuse
}
