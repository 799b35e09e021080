import Identity
import Testing

@testable import ChatModel

/// Rooms whose hosts talk while links are cut and broken and processes die, and what holds once it is quiet again.
struct RoomChaosTests {
    static let seeds: UInt64 = 300

    @Test(arguments: [406, 412, 1_000, 1_111, 1_300] as [UInt64])
    func `seeds that once showed a fault show none`(seed: UInt64) {
        judge(seed)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `after cuts, resets, crashes and leaves all hosts hold the same, and each line was shown once`(part: UInt64) {
        for seed in stride(from: part, to: Self.seeds, by: 10) {
            judge(seed)
        }
    }

    private func judge(_ seed: UInt64) {
        let chaos = Chaos(seed: seed)
        chaos.rage()
        chaos.calm()
        for complaint in chaos.complaints() { Issue.record("seed \(seed): \(complaint)") }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `one seed is one course of events`(seed: UInt64) {
        let traces = (0..<3).map { _ in
            let chaos = Chaos(seed: seed)
            chaos.rage()
            return chaos.network.trace
        }
        #expect(Set(traces).count == 1)
        #expect(Chaos(seed: seed).network.trace != traces[0])
    }
}

/// One course of faults, by its seed.
private final class Chaos {
    let network: RoomNetwork
    private var hosts: [RoomHost] { network.hosts }
    private var lines = 0
    /// What was acknowledged to somebody.
    private var acknowledged: Set<EventID> = []
    private var idleEffects: [Int] = []

    init(seed: UInt64) {
        let names = ["alice", "bob", "carol", "dave", "erin"]
        network = RoomNetwork(seed: seed, Array(names.prefix(3 + Int(seed % 3))))
        if network.chance(0...2) == 0 { network.separate(network.hosts[0], network.hosts[1]) }
    }

    /// Thirty seconds to a minute of talk and faults.
    func rage() {
        network.startAll()
        for _ in 0..<Int(network.chance(20...60)) {
            network.run(for: network.chance(0...3) == 0 ? network.chance(0...4_000) : network.chance(0...200))
            step()
            keepAcknowledgements()
        }
    }

    private func step() {
        let (one, other) = pair()
        switch network.chance(0...19) {
        case 0: network.cut(one, other)
        case 1: network.heal(one, other)
        case 2: network.reset(one, other)
        case 3: network.resetBlobLink(one, other)
        case 4: one.crash()
        case 5: one.leave()
        case 6, 7: for host in hosts { host.start() }
        case 8: one.share("\(lines).png", (0..<network.chance(0...3_000)).map { UInt8(truncatingIfNeeded: $0) })
        default: if one.isRunning { speak(one) }
        }
    }

    private func speak(_ host: RoomHost) {
        for _ in 0..<network.chance(1...3) {
            lines += 1
            host.say("line \(lines)")
        }
    }

    private func pair() -> (RoomHost, RoomHost) {
        let one = Int(network.chance(0...UInt64(hosts.count - 1)))
        let other = (one + Int(network.chance(1...UInt64(hosts.count - 1)))) % hosts.count
        return (hosts[one], hosts[other])
    }

    private func keepAcknowledgements() {
        for host in hosts {
            for case .stored(let id, _, _) in host.replies.values { acknowledged.insert(id) }
        }
    }

    /// Everything works again, and there is time.
    func calm() {
        network.healAll()
        for host in hosts { host.start() }
        network.run(for: 60_000)
        keepAcknowledgements()
        let before = hosts.map(\.effectCount)
        network.run(for: 60_000)
        idleEffects = zip(hosts, before).map { $0.effectCount - $1 }
    }

    /// What isn't as it should be.
    func complaints() -> [String] {
        var complaints: [String] = []
        let ids = hosts[0].disk.ids
        for host in hosts {
            let name = host.name
            if host.disk.ids != ids { complaints.append("\(name) holds other events than \(hosts[0].name)") }
            let shown = host.screen.compactMap(\.id)
            if Set(shown).count != shown.count { complaints.append("\(name) shows a line twice") }
            if Set(shown) != Set(ids.values.joined()) { complaints.append("\(name) doesn't show just what it holds") }
            if !acknowledged.isSubset(of: shown) { complaints.append("\(name) lacks an acknowledged line") }
            if host.disk.lines.map(\.id) != hosts[0].disk.lines.map(\.id) { complaints.append("\(name): other order") }
            complaints += leftovers(host)
        }
        for (host, count) in zip(hosts, idleEffects) where count > 0 {
            complaints.append("\(host.name) has \(count) effects in an idle minute")
        }
        return complaints
    }

    private func leftovers(_ host: RoomHost) -> [String] {
        let name = host.name
        let room = host.room
        var complaints: [String] = []
        if room.logs.values.contains(where: { !$0.asked.isEmpty }) { complaints.append("\(name) still wants events") }
        if room.logs.values.contains(where: \.isForked) { complaints.append("\(name) calls somebody forked") }
        if !room.fetches.isEmpty || !room.arrivals.isEmpty { complaints.append("\(name) still wants bytes") }
        if !room.transfers.isEmpty { complaints.append("\(name) has a transfer that doesn't end") }
        for line in host.disk.lines {
            guard case .image(let image, let state) = line.content, line.direction == .receive else { continue }
            if case .received = state { continue }
            complaints.append("\(name): \(image.name) is \(state)")
        }
        for other in hosts where network.areAnnounced(host, other) && other !== host {
            if room.peers[other.key.peer]?.isLinked != true {
                complaints.append("\(name) isn't linked with \(other.name)")
            }
            if room.peers[other.key.peer]?.isPresent != true { complaints.append("\(name) doesn't show \(other.name)") }
        }
        complaints += flicker(host)
        return complaints
    }

    /// Connected and Not Connected of one peer take turns.
    private func flicker(_ host: RoomHost) -> [String] {
        var isThere: [String: Bool] = [:]
        var complaints: [String] = []
        for (_, text) in host.notices {
            let isUp = text.hasSuffix("' is Connected")
            guard isUp || text.hasSuffix("' is Not Connected") else {
                complaints.append("\(host.name) says: \(text)")
                continue
            }
            let name = String(text.split(separator: "'")[0])
            // A process that ended said nothing at its end.
            if isThere[name] == false, !isUp { complaints.append("\(host.name) says twice: \(text)") }
            isThere[name] = isUp
        }
        return complaints
    }
}
