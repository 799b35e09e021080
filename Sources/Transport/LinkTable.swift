import Identity

/// Which of several links between us and one peer, for one purpose, is kept.
///
/// Pure: links that come up and go down in, decisions out. Both sides decide by the same rule over names that are the
/// same on both, so they agree once both have seen the same links, in whatever order (docs/protocol.md, "Duplicate
/// links"):
///
/// 1. a link that another one replaces has lost, while any other is there;
/// 2. of links with different diallers the one dialled by the smaller PeerID is kept;
/// 3. of two by one dialler the one with the higher dial number.
///
/// Only the kept link's dialler retires the others, once the kept link is up on its side. The acceptor's side of a link
/// is up before its dialler's, so whoever is told to let go of a link already has the kept one.
struct LinkTable: Sendable {
    struct Decision: Equatable {
        /// Whether `kept` is another one than before.
        var isChanged = false
        /// The link to write on from now on.
        var kept: LinkName?
        /// The links to end with Goodbye(duplicate), in the order in which they came up; they are no longer in the table.
        var retired: [LinkName] = []
    }

    private static let rememberedReplacements = 16

    private let own: PeerID
    private(set) var kept: LinkName?
    private(set) var links: [LinkName] = []
    private(set) var replaced: [LinkName] = []

    init(own: PeerID) { self.own = own }

    /// Takes in a link that is up: its Link frames have gone both ways.
    ///
    /// `silent` is the link that its dialler found silent; it need not be here, nor have come up yet.
    mutating func up(_ name: LinkName, replacing silent: LinkName? = nil) -> Decision {
        links.append(name)
        if let silent, silent != name {
            replaced.append(silent)
            if replaced.count > Self.rememberedReplacements { replaced.removeFirst() }
        }
        return decide()
    }

    /// Lets go of a link that ended, or that the other side retired.
    mutating func down(_ name: LinkName) -> Decision {
        links.removeAll { $0 == name }
        let decision = decide()
        if links.isEmpty { replaced = [] }
        return decision
    }

    private mutating func decide() -> Decision {
        let fresh = links.filter { !replaced.contains($0) }
        let best = (fresh.isEmpty ? links : fresh).min(by: Self.isBetter)
        var decision = Decision(isChanged: best != kept, kept: best)
        if best?.dialler == own { decision.retired = links.filter { $0 != best } }
        links.removeAll { decision.retired.contains($0) }
        kept = best
        return decision
    }

    private static func isBetter(_ left: LinkName, _ right: LinkName) -> Bool {
        left.dialler == right.dialler ? left.number > right.number : left.dialler < right.dialler
    }
}
