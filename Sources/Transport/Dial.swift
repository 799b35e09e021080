import Addressing
import Identity

/// One attempt to get a link: some addresses, of which the first that answers wins.
///
/// Only touched on the core's queue.
final class Dial {
    /// `nil` for a dial of our own, of which nothing is told.
    let id: DialID?
    let purpose: LinkPurpose
    let expecting: PeerID?
    let replacesSilent: Bool
    var untried: ArraySlice<Endpoint>
    var attempts: [Link] = []
    /// The attempt whose opening was answered first; the others were ended for it.
    var winner: Link?
    var nextStart: Instant?
    var deadline: Instant?
    private(set) var failures: [String] = []
    private var areAllUnreachable = true
    private var isAnyRefused = false

    init(id: DialID?, purpose: LinkPurpose, endpoints: [Endpoint], expecting: PeerID?, replacesSilent: Bool) {
        self.id = id
        self.purpose = purpose
        self.expecting = expecting
        self.replacesSilent = replacesSilent
        untried = endpoints[...]
    }

    enum Failure {
        case refused, unreachable, other
    }

    func fail(_ reason: String, _ failure: Failure) {
        failures.append(reason)
        if failure == .other { areAllUnreachable = false }
        if failure == .refused { isAnyRefused = true }
    }

    /// Whether the peer's process is surely gone: an address refused, and no other gives hope.
    var isRefused: Bool { isAnyRefused && areAllUnreachable }

    var nextDeadline: Instant? {
        guard let nextStart else { return deadline }
        return deadline.map { min($0, nextStart) } ?? nextStart
    }
}
