import ChatModel
import Identity

/// Connections, and what stands between hosts; all by the hosts' indexes.
struct Links {
    /// A connection between two processes.
    final class Link {
        let number: Int
        let dialler: Int
        let acceptor: Int
        /// Which processes of the two hosts have it.
        let lives: (Int, Int)
        let replaced: Link?
        /// Whether the dialler and the acceptor see it as up.
        var isUp = (false, false)
        /// Whether what is under way gets lost.
        var isReset = false
        /// What the dialler is told if it is reset before the dialler hears that it is up.
        var whenReset: (() -> Void)?
        var lastArrival: (UInt64, UInt64) = (0, 0)
        /// What waits for a way to the dialler, and to the acceptor.
        var held: ([() -> Void], [() -> Void]) = ([], [])

        init(_ number: Int, from dialler: Host, to acceptor: Host, replacing replaced: Link?) {
            self.number = number
            self.dialler = dialler.index
            self.acceptor = acceptor.index
            self.replaced = replaced
            lives = (dialler.life, acceptor.life)
        }

        func other(than host: Int) -> Int { host == dialler ? acceptor : dialler }
        func isUp(for host: Int) -> Bool { host == dialler ? isUp.0 : host == acceptor && isUp.1 }

        func setUp(_ isUp: Bool, for host: Int) {
            if host == dialler { self.isUp.0 = isUp } else { self.isUp.1 = isUp }
        }

        func joins(_ one: Int, _ other: Int) -> Bool {
            (dialler, acceptor) == (one, other) || (dialler, acceptor) == (other, one)
        }

        /// Whether it stays when both are up (docs/protocol.md, "Duplicate links").
        func wins(over other: Link, _ hosts: [Host]) -> Bool {
            if replaced === other { return true }
            if other.replaced === self { return false }
            if other.lives != lives, dialler == other.dialler, acceptor == other.acceptor {
                return number > other.number
            }
            if dialler == other.dialler { return number > other.number }
            // A process that is gone can't hold a link against the one after it.
            if other.lives.0 != hosts[other.dialler].life || other.lives.1 != hosts[other.acceptor].life { return true }
            return hosts[dialler].peer < hosts[other.dialler].peer
        }
    }

    var all: [Link] = []
    var lastNumber = 0
    private let count: Int
    /// Since when nothing passes from one host to another.
    private var blocked: [UInt64?]
    private var strange: [Bool]
    private var unmet: [Bool]

    init(hosts count: Int = 0) {
        self.count = count
        blocked = Array(repeating: nil, count: count * count)
        strange = Array(repeating: false, count: count * count)
        unmet = strange
    }

    func blockedSince(from one: Int, to other: Int) -> UInt64? { blocked[one * count + other] }
    mutating func block(from one: Int, to other: Int, since time: UInt64?) { blocked[one * count + other] = time }

    /// Whether two hosts have no way to each other, ever.
    func areStrangers(_ one: Int, _ other: Int) -> Bool { strange[one * count + other] }

    mutating func setStrangers(_ one: Int, _ other: Int, _ are: Bool) {
        strange[one * count + other] = are
        strange[other * count + one] = are
    }

    func isOpen(_ one: Int, _ other: Int) -> Bool {
        !areStrangers(one, other) && blockedSince(from: one, to: other) == nil
            && blockedSince(from: other, to: one) == nil
    }

    /// Takes what `host` could not be told about `other` while there was no way.
    mutating func takeUnmet(_ host: Int, _ other: Int) -> Bool {
        defer { unmet[host * count + other] = false }
        return unmet[host * count + other]
    }

    mutating func setUnmet(_ host: Int, _ other: Int) { unmet[host * count + other] = true }
}

extension World {
    func dial(_ target: Host, from host: Host, replacing silent: Links.Link?, _ done: @escaping (DialOutcome) -> Void) {
        guard links.isOpen(host.index, target.index) else {
            return schedule(after: 1_000) { done(.failed("timed out")) }
        }
        links.lastNumber += 1
        let number = links.lastNumber
        let life = host.life
        schedule(after: chance.among(1...latency)) { [self] in
            guard host.isRunning, host.life == life else { return }
            guard links.isOpen(host.index, target.index) else {
                return schedule(after: 1_000) { done(.failed("timed out")) }
            }
            guard target.isRunning else { return schedule(after: chance.among(1...latency)) { done(.refused) } }
            let link = Links.Link(number, from: host, to: target, replacing: silent)
            links.all.append(link)
            link.whenReset = { done(.failed("connection reset")) }
            // The dialler hears of it before it hears what the acceptor says on it.
            carry(on: link, to: host) { [self] in
                link.whenReset = nil
                let isEarly = chance.isOne(in: 2)
                if isEarly { done(.linked(target.peer)) }
                bring(link, to: host)
                if !isEarly { done(.linked(target.peer)) }
            }
            bring(link, to: target)
        }
    }

    private func bring(_ link: Links.Link, to host: Host) {
        let other = hosts[link.other(than: host.index)]
        link.setUp(true, for: host.index)
        let old = host.kept[other.index]
        let isKept = old.map { link.wins(over: $0, hosts) } ?? true
        if isKept {
            host.kept[other.index] = link
            host.take(.linkUp(other.peer, endpoint: other.endpoint, isDialler: host.index == link.dialler))
        }
        host.take(.message(other.peer, .hello(other.greeting)))
        guard let old else { return }
        let loser = isKept ? old : link
        schedule(after: 3 * latency) { [self] in
            for side in [loser.dialler, loser.acceptor] { end(loser, for: hosts[side], .closed) }
        }
    }

    /// Takes a link away from one side, and tells it if no other is left.
    func end(_ link: Links.Link, for host: Host, _ ending: LinkEnding) {
        guard link.isUp(for: host.index) else { return }
        link.setUp(false, for: host.index)
        let oldest = links.lastNumber
        defer { links.all.removeAll { !$0.isUp.0 && !$0.isUp.1 && $0.number + 20 < oldest } }
        let other = hosts[link.other(than: host.index)]
        guard host.isRunning, host.kept[other.index] === link else { return }
        let next = links.all.last { $0.isUp(for: host.index) && $0.joins(host.index, other.index) }
        host.kept[other.index] = next
        if let next {
            host.take(.linkUp(other.peer, endpoint: other.endpoint, isDialler: host.index == next.dialler))
        } else if flaw != .lostLinkDown {
            host.take(.linkDown(other.peer, ending))
        }
    }

    /// Does at the receiver what follows from what the other side did, in the order of the link.
    func carry(on link: Links.Link, to receiver: Host, _ action: @escaping () -> Void) {
        let isDialler = receiver.index == link.dialler
        let isBlocked = links.blockedSince(from: link.other(than: receiver.index), to: receiver.index) != nil
        if isBlocked || !(isDialler ? link.held.0 : link.held.1).isEmpty {
            if isDialler { link.held.0.append(action) } else { link.held.1.append(action) }
            return
        }
        let arrival = max(now + chance.among(1...latency), isDialler ? link.lastArrival.0 : link.lastArrival.1)
        if isDialler { link.lastArrival.0 = arrival } else { link.lastArrival.1 = arrival }
        let life = receiver.life
        schedule(at: arrival) {
            guard receiver.life == life, receiver.isRunning, !link.isReset else { return }
            receiver.unlessStopped(action)
        }
    }

    func send(_ message: SessionMessage, from host: Host, on link: Links.Link) {
        let receiver = hosts[link.other(than: host.index)]
        let sender = host.peer
        let mark = (UInt64(host.index) << 32 | UInt64(receiver.index), message.mark)
        carry(on: link, to: receiver) { [self] in
            guard link.isUp(for: receiver.index) else { return }
            note(1, mark.0, mark.1)
            receiver.take(isGenuine ? recoded(message, from: sender) : .message(sender, message))
        }
    }

    private func recoded(_ message: SessionMessage, from sender: PeerID) -> RoomEvent {
        let (kind, body) = message.encoded
        if body.count > SessionMessage.limit(ofKind: kind) ?? 0 { violated("a message of kind \(kind) is too long") }
        do throws(WireError) {
            return .message(sender, try SessionMessage(kind: kind, body: body))
        } catch { return .malformed(sender, error) }
    }

    /// A process is gone; what it wrote arrives before its end does.
    func hangUp(_ host: Host, _ ending: LinkEnding) {
        for link in links.all where link.isUp(for: host.index) {
            link.setUp(false, for: host.index)
            let other = hosts[link.other(than: host.index)]
            carry(on: link, to: other) { [self] in end(link, for: other, ending) }
        }
    }

    /// The power of a host is gone: nobody hears anything, not even an end.
    func vanish(_ host: Host) {
        for link in links.all where link.isUp(for: host.index) {
            link.setUp(false, for: host.index)
            let other = hosts[link.other(than: host.index)]
            fallSilent(link, for: other) { true }
        }
    }

    /// Closes all links with a peer on our side; the other side sees them closed.
    func disconnect(_ host: Host, from other: Host, _ reason: String) {
        for link in links.all where link.joins(host.index, other.index) && link.isUp(for: host.index) {
            carry(on: link, to: other) { [self] in end(link, for: other, .closed) }
            end(link, for: host, .violated(reason))
        }
    }
}

// Faults
extension World {
    /// Lets nothing pass from one host to another; links fall silent after 3 s and end after 15 s
    /// (docs/protocol.md, "Liveness").
    func block(from one: Host, to other: Host) {
        guard one !== other, links.blockedSince(from: one.index, to: other.index) == nil else { return }
        let start = now
        links.block(from: one.index, to: other.index, since: start)
        for link in links.all where link.joins(one.index, other.index) && link.isUp(for: other.index) {
            fallSilent(link, for: other) { [self] in
                links.blockedSince(from: one.index, to: other.index) == start
            }
        }
    }

    private func fallSilent(_ link: Links.Link, for host: Host, while condition: @escaping () -> Bool) {
        let other = hosts[link.other(than: host.index)]
        for delay in stride(from: 3_000, to: 15_000, by: 1_000) as StrideTo<UInt64> {
            schedule(after: delay) {
                if condition(), link.isUp(for: host.index), host.kept[other.index] === link {
                    host.unlessStopped { host.take(.silent(other.peer)) }
                }
            }
        }
        schedule(after: 15_000) { [self] in
            guard condition(), link.isUp(for: host.index) else { return }
            host.unlessStopped { [self] in end(link, for: host, .silent) }
            carry(on: link, to: other) { [self] in end(link, for: other, .closed) }
            // What the other side sends on goes unanswered.
            schedule(after: 15_000) { [self] in end(link, for: other, .closed) }
        }
    }

    /// Lets things pass again; what was held arrives when TCP tries the next time.
    func unblock(from one: Host, to other: Host) {
        guard one !== other, links.blockedSince(from: one.index, to: other.index) != nil else { return }
        links.block(from: one.index, to: other.index, since: nil)
        for link in links.all where link.joins(one.index, other.index) {
            schedule(after: chance.among(0...2_000)) { [self] in release(link, to: other, from: one) }
        }
        guard links.isOpen(one.index, other.index) else { return }
        for (host, peer) in [(one, other), (other, one)] where links.takeUnmet(host.index, peer.index) {
            if peer.isRunning { host.discover(peer) }
        }
    }

    private func release(_ link: Links.Link, to host: Host, from other: Host) {
        guard links.blockedSince(from: other.index, to: host.index) == nil else { return }
        let isDialler = host.index == link.dialler
        let held = isDialler ? link.held.0 : link.held.1
        if isDialler { link.held.0 = [] } else { link.held.1 = [] }
        for action in held { carry(on: link, to: host, action) }
    }

    func healAll() {
        for one in hosts { for other in hosts { unblock(from: one, to: other) } }
    }

    /// Breaks the connections of two hosts; what is under way is lost.
    func reset(_ one: Host, _ other: Host) {
        for link in links.all where link.joins(one.index, other.index) && !link.isReset {
            link.isReset = true
            if let tell = link.whenReset { schedule(after: chance.among(1...latency), tell) }
            for host in [one, other] {
                schedule(after: chance.among(1...latency)) { [self] in
                    host.unlessStopped { [self] in end(link, for: host, .closed) }
                }
            }
        }
    }
}

extension SessionMessage {
    /// Tells messages apart in a trace.
    fileprivate var mark: UInt64 {
        switch self {
        case .have(let have):
            have.entries.reduce(UInt64(have.entries.count)) { sum, entry in
                entry.ranges.reduce(sum &* 31) { $0 &+ $1.numbers.upperBound }
            }
        case .want(let want), .answered(let want): want.numbers.lowerBound << 20 | want.numbers.upperBound
        case .batch(let bytes): bytes.suffix(80).reduce(7) { $0 &* 31 &+ UInt64($1) }
        default: 1
        }
    }
}
