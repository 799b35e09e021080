import Identity
import Testing

@testable import ChatModel

/// Whom a host asks for what it lacks, and for how much.
struct RoomWantTests {
    @Test func `one holder is asked for little at once, and a long log keeps no short one waiting`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        (alice.limits.wantLength, alice.limits.wantAhead) = (2, 3)
        bob.start()
        carol.start()
        network.run(for: 2_000)
        for number in 1...30 { bob.say("bob \(number)") }
        for number in 1...4 { carol.say("carol \(number)") }
        network.run(for: 2_000)
        carol.leave()

        var (owed, most) = (0, 0)
        alice.tamper = { _, message in
            if case .want(let want) = message { owed += want.numbers.count }
            most = max(most, owed)
            return message
        }
        bob.tamper = { _, message in
            if case .answered(let want) = message { owed -= want.numbers.count }
            return message
        }
        alice.start()

        #expect(network.run(within: 2_000) { alice.texts.count == 34 })
        #expect(most == 3)
        let last = ["carol 1", "bob 1"].compactMap(alice.texts.firstIndex)
        #expect(last.count == 2 && last == last.sorted())
    }

    @Test func `a newcomer takes the newest first, fills backwards, and what is said meanwhile comes at once`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        (bob.limits.wantLength, bob.limits.wantAhead) = (10, 10)
        alice.start()
        network.run(for: 2_000)
        for number in 1...400 {
            alice.say("line \(number)")
            network.run(for: 10)
        }

        bob.start()
        #expect(network.run(within: 1_000) { bob.texts.count >= 30 })
        #expect(Array(bob.texts.prefix(20)) == (Array(391...400) + Array(381...390)).map { "line \($0)" })
        alice.say("news")
        #expect(network.run(within: 60) { bob.texts.contains("news") })
        #expect(bob.texts.count < 200)
        #expect(bob.room.logs[alice.disk.ownLog]?.ranges.gaps.count == 1)

        #expect(network.run(within: 20_000) { bob.texts.count == 401 })
        #expect(
            bob.disk.lines
                == alice.disk.lines.map { line in
                    var line = line
                    line.direction = .receive
                    return line
                })
    }

    @Test func `parts of one log are asked of several holders, and nothing of two`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol", "dave")
        let (alice, bob, carol, dave) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        for host in [alice, bob, carol] { host.start() }
        network.run(for: 2_000)
        for number in 1...200 {
            alice.say("line \(number)")
            network.run(for: 10)
        }
        network.run(for: 3_000)
        alice.leave()
        var asked: [PeerID: [ClosedRange<UInt64>]] = [:]
        (dave.limits.wantLength, dave.limits.wantAhead) = (10, 20)
        dave.tamper = { peer, message in
            if case .want(let want) = message { asked[peer, default: []].append(want.numbers) }
            return message
        }

        dave.start()

        #expect(network.run(within: 5_000) { dave.texts.count == 200 })
        #expect(asked.count == 2 && asked.values.allSatisfy { $0.count > 5 })
        let sent = [bob, carol].compactMap { $0.messagesSent[SessionMessage.Kind.batch.rawValue] }
        #expect(sent.reduce(0, +) == 200)
    }

    @Test func `one who claims the most and gives nothing keeps nobody from being asked who failed once`() {
        let network = RoomNetwork(seed: 2, "alice", "bob", "mallory", "dave")
        let (alice, bob, mallory, dave) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        network.separate(alice, dave)
        for host in [alice, bob, mallory] { host.start() }
        network.run(for: 1_000)
        for number in 1...5 {
            alice.say("line \(number)")
            network.run(for: 100)
        }
        mallory.tamper = { _, message in
            if case .batch = message { return nil }
            guard case .have(var have) = message else { return message }
            for place in have.entries.indices where have.entries[place].log == alice.disk.ownLog {
                have.entries[place].ranges = [EventRange(numbers: 1...1 << 40, lastID: .none)]
            }
            return .have(have)
        }
        var failures = 0
        bob.tamper = { peer, message in
            guard peer == dave.key.peer, case .batch = message, failures == 0 else { return message }
            failures += 1
            return nil
        }

        dave.start()

        #expect(network.run(within: 20_000) { dave.texts.count == 5 })
        #expect(failures == 1)
    }

    @Test func `what two holders have between them is fetched from both, and what neither has stays missing`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol", "dave")
        let (alice, bob, carol, dave) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        alice.start()
        network.run(for: 2_000)
        for number in 1...30 {
            alice.say("line \(number)")
            network.run(for: 10)
        }
        let stored = alice.disk.logs[alice.disk.ownLog] ?? []
        for row in stored where row.numbers.upperBound <= 10 { _ = bob.disk.store(row.batch) }
        for row in stored where row.numbers.lowerBound >= 21 { _ = carol.disk.store(row.batch) }
        alice.leave()

        for host in [bob, carol, dave] { host.start() }
        network.run(for: 3_000)

        for host in [bob, carol, dave] {
            #expect(host.disk.ranges[alice.disk.ownLog]?.all.map(\.numbers) == [1...10, 21...30])
        }
        alice.start()
        #expect(network.run(within: 5_000) { [bob, carol, dave].allSatisfy { $0.texts.count == 30 } })
        for host in [bob, carol, dave] { #expect(host.disk.ids == alice.disk.ids) }
    }

    @Test func `an old word on what a peer has, from a link that broke, takes nothing back`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        let log = alice.disk.ownLog
        alice.start()
        network.run(for: 2_000)
        for number in 1...4 { alice.say("line \(number)") }
        bob.start()
        network.run(for: 2_000)
        let ids = alice.disk.ids[log] ?? []
        let old = EventRange(numbers: 1...2, lastID: ids[1])

        bob.take(.message(alice.key.peer, .have(Have(entries: [Have.Entry(log: log, ranges: [old])]))))

        #expect(bob.room.peers[alice.key.peer]?.have[log]?.last == 4)
    }

    @Test(arguments: [false, true])
    func `a holder that doesn't deliver is passed over for another`(saysSo: Bool) {
        let network = RoomNetwork(seed: 3, "alice", "bob", "carol", "dave")
        let (alice, bob, carol, dave) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        network.separate(alice, dave)
        for host in [alice, bob, carol] { host.start() }
        network.run(for: 1_000)
        for number in 1...5 { alice.say("line \(number)") }
        network.run(for: 1_000)
        // Bob claims to have the lines: he keeps quiet about a wish, or says that this was all.
        bob.tamper = { _, message in
            switch message {
            case .batch: nil
            case .answered: saysSo ? message : nil
            default: message
            }
        }

        dave.start()
        network.run(for: saysSo ? 3_000 : 15_000)

        #expect(dave.texts.count == 5)
        #expect(carol.texts == dave.texts)
    }

    @Test func `when a holder goes away in the midst of an answer, another is asked at once`() {
        let network = RoomNetwork(seed: 3, "alice", "bob", "carol", "dave")
        let (alice, bob, carol, dave) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        for host in [alice, bob, carol] { host.start() }
        network.run(for: 1_000)
        alice.say("line")
        network.run(for: 1_000)
        alice.leave()
        let silence: (PeerID, SessionMessage) -> SessionMessage? = { _, message in
            switch message {
            case .batch, .answered: nil
            default: message
            }
        }
        for host in [bob, carol] { host.tamper = silence }
        dave.start()
        #expect(network.run(within: 1_000) { dave.room.logs[alice.disk.ownLog]?.asked.isEmpty == false })
        let asked = dave.room.logs[alice.disk.ownLog]?.asked.keys.first
        for host in [bob, carol] { host.tamper = { $1 } }
        for host in [bob, carol] where host.key.peer == asked { host.leave() }

        #expect(network.run(within: 200) { dave.texts == ["line"] })
    }

    @Test func `an author that says it has lines and gives none is passed over too`() {
        let network = RoomNetwork(seed: 3, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        alice.start()
        bob.start()
        network.run(for: 1_000)
        alice.say("line")
        network.run(for: 1_000)
        alice.tamper = { $1.encoded.kind == SessionMessage.Kind.batch.rawValue ? nil : $1 }

        carol.start()

        #expect(network.run(within: 3_000) { carol.texts == ["line"] })
        #expect(bob.texts == carol.texts)
    }

    @Test func `a host that claims endless logs costs a bounded memory and bounded requests`() {
        var limits = RoomLimits()
        limits.maximumLogs = 50
        let network = RoomNetwork(seed: 1, "alice", "mallory", limits: limits)
        let (alice, mallory) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        for page in 0..<20 {
            let entries = (0..<100).map { number in
                Have.Entry(
                    log: LogID(author: mallory.key.peer, incarnation: Incarnation(UInt128(page * 100 + number))),
                    ranges: [EventRange(numbers: 1...(.max - 2), lastID: .none)])
            }
            alice.take(.message(mallory.key.peer, .have(Have(entries: entries))))
        }
        network.run(for: 10_000)

        #expect(alice.room.logs.count <= 51)
        #expect(alice.room.peers[mallory.key.peer]?.have.count ?? 0 <= 50)
        #expect(alice.messagesSent[SessionMessage.Kind.want.rawValue] ?? 0 <= 50 * 25)
    }

    @Test func `a batch of which some was known says of each new line where it is in the order of arrival`() {
        let (_, alice, bob, _) = RoomNetwork.three()
        let batch = Batch(
            sealing: (1...9).map { Samples.text("\($0)", nonce: $0) }, in: Samples.log(of: bob.key), of: Samples.lab,
            first: 1, previous: .none, with: bob.key)
        let news = [NewEvents(2...3, arrival: 0x101), NewEvents(8...9, arrival: 0x207)]

        alice.take(.stored(from: bob.key.peer, [StoredBatch(batch: batch, result: .stored(news))]))

        #expect(alice.screen.compactMap(\.arrival) == [0x101, 0x102, 0x207, 0x208])
    }

    @Test func `what a peer says that it has stays small, however often it says something else`() {
        let (_, alice, bob, carol) = RoomNetwork.three()
        let log = Samples.log(of: carol.key)
        for page in 0..<100 as Range<UInt64> {
            let ranges = (0..<4).map { part in
                EventRange(numbers: (page * 8 + part * 2 + 1)...(page * 8 + part * 2 + 1), lastID: .none)
            }
            alice.take(.message(bob.key.peer, .have(Have(entries: [Have.Entry(log: log, ranges: ranges)]))))
        }

        #expect(alice.room.peers[bob.key.peer]?.have[log]?.all.count == EventRanges.maximumCount)
        #expect(alice.room.holdings[bob.key.peer]?[log]?.count == EventRanges.maximumCount)
    }

    private static func isAnswer(_ message: SessionMessage) -> Bool {
        switch message {
        case .batch, .answered: true
        default: false
        }
    }

    /// Alice, who has said so many lines, and others who don't run yet.
    private func after(_ count: Int, lines others: String...) -> (RoomNetwork, alice: RoomHost, others: [RoomHost]) {
        let network = RoomNetwork(seed: 1, ["alice"] + others)
        let alice = network.hosts[0]
        alice.start()
        network.run(for: 2_000)
        for number in 1...count {
            alice.say("line \(number)")
            network.run(for: 10)
        }
        return (network, alice, Array(network.hosts.dropFirst()))
    }

    @Test func `what ends where one of many ranges begins is fetched though what is between them is lost`() {
        let (network, alice, others) = after(16, lines: "bob", "carol")
        let (bob, carol) = (others[0], others[1])
        alice.leave()
        for row in alice.disk.logs[alice.disk.ownLog] ?? [] {
            let number = row.numbers.lowerBound
            if [10, 12, 14, 16].contains(number) { _ = bob.disk.store(row.batch) }
            if number < 10 { _ = carol.disk.store(row.batch) }
        }

        for host in others { host.start() }
        network.run(for: 5_000)

        for host in others {
            #expect(host.disk.ranges[alice.disk.ownLog]?.all.map(\.numbers) == [1...10, 12...12, 14...14, 16...16])
        }
    }

    @Test func `an author that goes on speaking but doesn't answer is passed over for another`() {
        let (network, alice, others) = after(100, lines: "bob", "carol")
        let (bob, carol) = (others[0], others[1])
        for row in alice.disk.logs[alice.disk.ownLog] ?? [] { _ = bob.disk.store(row.batch) }
        alice.tamper = { _, message in
            switch message {
            case .batch(let bytes):
                ((try? Batch(stored: bytes, in: Samples.lab))?.last ?? 0) <= 100 ? nil : message
            case .answered: nil
            default: message
            }
        }
        (carol.limits.wantLength, carol.limits.wantAhead) = (10, 20)
        bob.start()
        carol.start()
        for number in 101...110 {
            network.run(for: 2_000)
            alice.say("line \(number)")
        }

        #expect(network.run(within: 1_000) { carol.texts.count == 110 })
    }

    @Test func `what a holder has lost keeps nobody from fetching what was before and behind it`() {
        let (network, alice, others) = after(100, lines: "bob")
        let bob = others[0]
        (bob.limits.wantLength, bob.limits.wantAhead) = (10, 20)
        for number in [50, 95] as [UInt64] { alice.disk.lose(number, of: alice.disk.ownLog) }

        bob.start()
        network.run(for: 60_000)

        let numbers = bob.disk.ranges[alice.disk.ownLog]?.all.map(\.numbers)
        #expect(numbers == [1...49, 51...94, 96...100])
    }

    @Test func `a liar that owes much keeps nothing from being asked of others`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "mallory")
        let (alice, bob, mallory) = (network.hosts[0], network.hosts[1], network.hosts[2])
        (alice.limits.wantLength, alice.limits.wantAhead) = (2, 3)
        let author = Samples.key(9)
        for number in 1...20 as ClosedRange<UInt128> {
            let log = LogID(author: author.peer, incarnation: Incarnation(number))
            let batch = Batch(
                sealing: [Samples.text("one"), Samples.text("two")], in: log, of: Samples.lab, first: 1,
                previous: .none, with: author)
            for host in [bob, mallory] { _ = host.disk.store(batch) }
        }
        mallory.tamper = { _, message in
            guard case .have(var have) = message else { return Self.isAnswer(message) ? nil : message }
            for place in have.entries.indices {
                have.entries[place].ranges = [EventRange(numbers: 1...1_000, lastID: .none)]
            }
            return .have(have)
        }
        for host in [bob, mallory, alice] { host.start() }

        #expect(network.run(within: 3_000) { alice.texts.count >= 36 })
    }
}
