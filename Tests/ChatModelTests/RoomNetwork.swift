import Addressing
import Identity

@testable import ChatModel

/// Rooms, their disks and the links between them under virtual time; one seed is always one course of events.
///
/// Keeps to what the room is promised of its surroundings: frames of one link come in order, a disk does one thing after
/// another, every dial ends once, and of two links between two hosts both sides come to keep the same.
final class RoomNetwork {
    let id = Samples.lab
    private(set) var hosts: [RoomHost] = []
    /// In milliseconds.
    private(set) var now: UInt64 = 1_000
    var random: SplitMix64
    /// Stands for all that happened so far, in its order.
    private(set) var trace: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The longest way of a frame, in milliseconds.
    var latency: UInt64 = 20

    private var agenda = Agenda()
    private var links: [Link] = []
    private var lastLink = 0
    /// Pairs between which no packet passes, and since when.
    private var cuts: [Pair: UInt64] = [:]
    /// Pairs that never hear of each other.
    private var strangers: Set<Pair> = []
    private var hidden: Set<Pair> = []
    private var verified: [[UInt8]: Batch] = [:]

    /// Makes hosts that don't run yet.
    ///
    /// - Parameter names: One host each; key 1 is the first one's.
    convenience init(seed: UInt64, _ names: String..., limits: RoomLimits = RoomLimits()) {
        self.init(seed: seed, names, limits: limits)
    }

    init(seed: UInt64, _ names: [String], limits: RoomLimits = RoomLimits()) {
        random = SplitMix64(seed: seed)
        for (index, name) in names.enumerated() {
            hosts.append(RoomHost(index, name, Samples.key(index + 1), limits, self))
        }
    }

    /// Three hosts that are all linked to one another.
    static func three() -> (RoomNetwork, alice: RoomHost, bob: RoomHost, carol: RoomHost) {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        network.startAll()
        network.run(for: 1_000)
        return (network, network.hosts[0], network.hosts[1], network.hosts[2])
    }

    /// Starts all hosts in the same instant.
    func startAll() { for host in hosts { host.start() } }

    func chance(_ range: ClosedRange<UInt64>) -> UInt64 { .random(in: range, using: &random) }

    /// Adds to the trace.
    func note(_ values: UInt64...) {
        for value in values { trace = (trace ^ value) &* 0x100_0000_01b3 }
    }

    func host(of peer: PeerID) -> RoomHost? { hosts.first { $0.key.peer == peer } }

    /// Verifies a batch, or remembers that it did: a seal costs the same bytes for every reader.
    func verify(_ bytes: [UInt8], reader: PeerID) throws(BatchError) -> Batch {
        if let batch = verified[bytes] { return batch }
        let batch = try Batch(verifying: bytes, in: id, reader: reader)
        verified[bytes] = batch
        return batch
    }
}

// Time
extension RoomNetwork {
    func schedule(at time: UInt64, _ action: @escaping () -> Void) { agenda.insert(max(time, now), action) }
    func schedule(after delay: UInt64, _ action: @escaping () -> Void) { schedule(at: now + delay, action) }

    func run(for span: UInt64) { _ = run(within: span) { false } }

    /// Lets time pass.
    ///
    /// - Returns: Whether `condition` came true within `span` milliseconds; time stops when it does.
    func run(within span: UInt64, until condition: () -> Bool) -> Bool {
        let end = now + span
        while true {
            if condition() { return true }
            guard let action = agenda.next(until: end) else { break }
            now = action.time
            action.run()
        }
        now = end
        return condition()
    }
}

// Links
extension RoomNetwork {
    struct Pair: Hashable {
        let low: Int
        let high: Int
        init(_ one: RoomHost, _ other: RoomHost) {
            low = min(one.index, other.index)
            high = max(one.index, other.index)
        }
    }

    /// A connection, for chat or for blobs.
    final class Link {
        let number: Int
        let dialler: RoomHost
        let acceptor: RoomHost
        /// The dialler's process.
        let dialLife: Int
        let isBlob: Bool
        var replaced: Link?
        /// Those who see it as up.
        var upFor: Set<Int> = []
        /// Whether what is under way gets lost.
        var isReset = false
        fileprivate var isAnswered = false
        fileprivate var lastArrival: [Int: UInt64] = [:]
        fileprivate var held: [(receiver: RoomHost, action: () -> Void)] = []

        init(_ number: Int, from dialler: RoomHost, to acceptor: RoomHost, isBlob: Bool) {
            self.number = number
            self.dialler = dialler
            self.acceptor = acceptor
            self.isBlob = isBlob
            dialLife = dialler.life
        }

        var pair: Pair { Pair(dialler, acceptor) }
        func other(than host: RoomHost) -> RoomHost { host === dialler ? acceptor : dialler }

        /// Whether it stays when both are up (docs/protocol.md, "Duplicate links").
        func wins(over other: Link) -> Bool {
            if replaced === other { return true }
            if other.replaced === self { return false }
            if dialler === other.dialler { return number > other.number }
            return dialler.key.peer < other.dialler.key.peer
        }
    }

    func dial(_ target: RoomHost, from host: RoomHost, replacing silent: Link?, _ done: @escaping (DialOutcome) -> Void)
    {
        guard isOpen(host, target) else { return schedule(after: 1_000) { done(.failed("timed out")) } }
        lastLink += 1
        let number = lastLink
        schedule(after: chance(1...latency)) { [self] in
            guard host.isRunning else { return }
            guard target.isRunning else { return schedule(after: chance(1...latency)) { done(.refused) } }
            if target.shutOut.contains(host.key.peer) || host.shutOut.contains(target.key.peer) {
                return schedule(after: chance(1...latency)) { done(.failed("the connection was closed")) }
            }
            let link = Link(number, from: host, to: target, isBlob: false)
            link.replaced = silent
            links.append(link)
            finish(link, done)
            bring(link, to: target)
        }
    }

    /// Tells the dialler, once: before it hears what the acceptor says on the link, or after a second of no answer.
    private func finish(_ link: Link, _ done: @escaping (DialOutcome) -> Void) {
        let (host, target) = (link.dialler, link.acceptor)
        carry(on: link, to: host) { [self] in
            guard host.life == link.dialLife, link.upFor.contains(target.index), !link.isAnswered else { return }
            link.isAnswered = true
            let isEarly = chance(0...1) == 0
            if isEarly { done(.linked(target.key.peer)) }
            bring(link, to: host)
            if !isEarly { done(.linked(target.key.peer)) }
        }
        schedule(after: 1_000) { [self] in
            guard !link.isAnswered else { return }
            link.isAnswered = true
            done(.failed("timed out"))
            end(link, for: target, .closed)
        }
    }

    private func bring(_ link: Link, to host: RoomHost) {
        let other = link.other(than: host)
        link.upFor.insert(host.index)
        let old = host.kept[other.index]
        if old == nil || old.map(link.wins(over:)) == true {
            host.kept[other.index] = link
            host.take(.linkUp(other.key.peer, endpoint: other.endpoint, isDialler: host === link.dialler))
        }
        host.take(.message(other.key.peer, .hello(other.greeting)))
        if let old {
            let loser = link.wins(over: old) ? old : link
            schedule(after: 3 * latency) { [self] in
                end(loser, for: loser.dialler, .closed)
                end(loser, for: loser.acceptor, .closed)
            }
        }
    }

    /// Takes a link away from one side, and tells it if no other is left.
    func end(_ link: Link, for host: RoomHost, _ ending: LinkEnding) {
        guard link.upFor.remove(host.index) != nil else { return }
        let other = link.other(than: host)
        if link.isBlob {
            if host.blobLinks[other.index] === link { host.blobLinks[other.index] = nil }
            return host.take(.blobLinkDown(other.key.peer))
        }
        guard host.kept[other.index] === link else { return }
        host.kept[other.index] = links.last { !$0.isBlob && $0.upFor.contains(host.index) && $0.pair == link.pair }
        if host.kept[other.index] == nil {
            if let blob = host.blobLinks[other.index] { end(blob, for: host, .closed) }
            host.take(.linkDown(other.key.peer, ending))
        } else {
            host.take(.linkUp(other.key.peer, endpoint: other.endpoint, isDialler: host === link.dialler))
        }
        links.removeAll { $0.upFor.isEmpty && $0.number + 100 < lastLink }
    }

    /// Does at the receiver what follows from what the other side did, in the order of the link.
    func carry(on link: Link, to receiver: RoomHost, _ action: @escaping () -> Void) {
        if cuts[link.pair] != nil || !link.held.isEmpty { return link.held.append((receiver, action)) }
        let arrival = max(now + chance(1...latency), link.lastArrival[receiver.index] ?? 0)
        link.lastArrival[receiver.index] = arrival
        let life = receiver.life
        schedule(at: arrival) { if receiver.life == life, receiver.isRunning, !link.isReset { action() } }
    }

    func send(_ message: SessionMessage, from host: RoomHost, on link: Link) {
        let receiver = link.other(than: host)
        let (kind, body) = message.encoded
        precondition(body.count <= SessionMessage.limit(ofKind: kind) ?? 0)
        carry(on: link, to: receiver) { [self] in
            guard link.upFor.contains(receiver.index) else { return }
            note(now, UInt64(host.index), UInt64(receiver.index), UInt64(kind), UInt64(body.count))
            do throws(WireError) {
                receiver.take(.message(host.key.peer, try SessionMessage(kind: kind, body: body)))
            } catch { receiver.take(.malformed(host.key.peer, error)) }
        }
    }

    /// The blob link to a peer, made if there is none.
    func blobLink(from host: RoomHost, to other: RoomHost) -> Link? {
        guard host.kept[other.index] != nil, other.isRunning else { return nil }
        if let link = host.blobLinks[other.index], link.upFor.count == 2 { return link }
        lastLink += 1
        let link = Link(lastLink, from: host, to: other, isBlob: true)
        link.upFor = [host.index, other.index]
        // By then both sides have the chat link that it goes with.
        link.lastArrival = [host.index: now + 2 * latency, other.index: now + 2 * latency]
        host.blobLinks[other.index] = link
        other.blobLinks[host.index] = link
        return link
    }

    /// A process is gone; what it wrote arrives before its end does.
    func hangUp(_ host: RoomHost, _ ending: LinkEnding) {
        for link in links where link.upFor.remove(host.index) != nil {
            let other = link.other(than: host)
            carry(on: link, to: other) { [self] in end(link, for: other, ending) }
        }
        for blob in host.blobLinks.values { blob.upFor = [] }
    }

    /// Closes all links with a peer on our side; the other side sees them closed.
    func disconnect(_ host: RoomHost, from other: RoomHost, _ reason: String) {
        for link in links where link.pair == Pair(host, other) && link.upFor.contains(host.index) {
            carry(on: link, to: other) { [self] in end(link, for: other, .closed) }
            end(link, for: host, .violated(reason))
        }
    }
}

// Faults
extension RoomNetwork {
    func isOpen(_ one: RoomHost, _ other: RoomHost) -> Bool {
        let pair = Pair(one, other)
        return one !== other && cuts[pair] == nil && !strangers.contains(pair)
    }

    /// Two hosts that have no way to each other, and don't see each other announced.
    func separate(_ one: RoomHost, _ other: RoomHost) { strangers.insert(Pair(one, other)) }

    /// Two hosts that have a way to each other, and don't see each other announced.
    func hide(_ one: RoomHost, _ other: RoomHost) { hidden.insert(Pair(one, other)) }

    func areAnnounced(_ one: RoomHost, _ other: RoomHost) -> Bool {
        let pair = Pair(one, other)
        return !strangers.contains(pair) && !hidden.contains(pair)
    }

    /// Lets no packet pass; links fall silent after 3 s and end after 15 s (docs/protocol.md, "Liveness").
    func cut(_ one: RoomHost, _ other: RoomHost) {
        let pair = Pair(one, other)
        guard cuts[pair] == nil else { return }
        let start = now
        cuts[pair] = start
        for link in links where link.pair == pair && !link.isBlob {
            for host in [one, other] {
                for time in stride(from: start + 3_000, to: start + 15_000, by: 1_000) {
                    schedule(at: time) { [self] in
                        let isSilent = cuts[pair] == start && host.kept[link.other(than: host).index] === link
                        if isSilent { host.take(.silent(link.other(than: host).key.peer)) }
                    }
                }
                schedule(at: start + 15_000) { [self] in
                    if cuts[pair] == start { end(link, for: host, .silent) }
                }
            }
        }
    }

    /// Lets packets pass again; what was held arrives when TCP tries the next time.
    func heal(_ one: RoomHost, _ other: RoomHost) {
        let pair = Pair(one, other)
        guard cuts.removeValue(forKey: pair) != nil else { return }
        let blob = one.blobLinks[other.index].map { [$0] } ?? []
        for link in links.filter({ $0.pair == pair }) + blob {
            schedule(after: chance(0...2_000)) { [self] in
                guard cuts[pair] == nil else { return }
                let held = link.held
                link.held = []
                for (receiver, action) in held { carry(on: link, to: receiver, action) }
            }
        }
    }

    func healAll() {
        for one in hosts { for other in hosts where one.index < other.index { heal(one, other) } }
    }

    /// Breaks the connections of two hosts; what is under way is lost.
    func reset(_ one: RoomHost, _ other: RoomHost) {
        for link in links where link.pair == Pair(one, other) && !link.isReset {
            link.isReset = true
            for host in [one, other] {
                schedule(after: chance(1...latency)) { [self] in end(link, for: host, .closed) }
            }
        }
    }

    /// Breaks the blob link alone.
    func resetBlobLink(_ one: RoomHost, _ other: RoomHost) {
        guard let link = one.blobLinks[other.index] else { return }
        link.isReset = true
        for host in [one, other] { end(link, for: host, .closed) }
    }
}

/// What is to happen when, and of one time in the order of its asking.
struct Agenda {
    private var actions: [(time: UInt64, run: () -> Void)] = []  // latest first

    mutating func insert(_ time: UInt64, _ action: @escaping () -> Void) {
        var low = 0, high = actions.count
        while low < high {
            let middle = (low + high) / 2
            if actions[middle].time > time { low = middle + 1 } else { high = middle }
        }
        actions.insert((time, action), at: low)
    }

    mutating func next(until end: UInt64) -> (time: UInt64, run: () -> Void)? {
        guard let last = actions.last, last.time <= end else { return nil }
        return actions.removeLast()
    }
}
