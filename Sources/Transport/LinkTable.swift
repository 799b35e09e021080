import Identity

/// Which of several links between us and one peer, for one purpose, is kept.
///
/// Pure: links that come up and go down in, decisions out. Both sides decide by the same rule over names that are the
/// same on both, so they agree once both have seen the same links, in whatever order (docs/protocol.md, "Duplicate
/// links"):
///
/// 1. a link that another one replaces, itself or through links between them, has lost for good;
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

    private static let remembered = 16  // replacements, and links that were replaced

    private let own: PeerID
    private(set) var kept: LinkName?
    private(set) var links: [LinkName] = []
    /// Which link was dialled to replace which, whether or not they are still there.
    private(set) var replacements: [Replacement] = []
    /// The links that were replaced.
    private(set) var lost: [LinkName] = []

    struct Replacement: Hashable {
        let link: LinkName
        let replaced: LinkName
    }

    init(own: PeerID) { self.own = own }

    /// Notes a link that we dial in place of a silent one.
    ///
    /// The other side may find the new one silent too before it is up here, and name only that.
    mutating func dialling(_ name: LinkName, replacing silent: LinkName) {
        let replacement = Replacement(link: name, replaced: silent)
        if replacements.contains(replacement) { return }
        replacements.append(replacement)
        if replacements.count > Self.remembered { replacements.removeFirst() }
    }

    /// Takes in a link that is up: its Link frames have gone both ways.
    ///
    /// `silent` is the link that its dialler found silent; it need not be here, nor have come up yet.
    mutating func up(_ name: LinkName, replacing silent: LinkName? = nil) -> Decision {
        links.append(name)
        if let silent { dialling(name, replacing: silent) }
        replaceAll(behind: name)
        return decide()
    }

    /// Lets go of a link that ended, or that the other side retired.
    mutating func down(_ name: LinkName) -> Decision {
        links.removeAll { $0 == name }
        return decide()
    }

    /// A link replaces, with the one that it names, all that this one was to replace.
    private mutating func replaceAll(behind name: LinkName) {
        var next = name
        while let replaced = replacements.last(where: { $0.link == next })?.replaced, !lost.contains(replaced) {
            lost.append(replaced)
            next = replaced
        }
        lost.removeFirst(max(0, lost.count - Self.remembered))
    }

    private mutating func decide() -> Decision {
        let fresh = links.filter { !lost.contains($0) }
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
