import Identity
import Testing

@testable import ChatModel

struct RoomGateTests {
    // MARK: Names

    @Test func `a known name under a new key is said at once, and until the user trusts it`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "bob")
        let (alice, bob, other) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(bob, other)
        alice.start()
        bob.start()
        network.run(for: 2_000)
        bob.leave()
        network.run(for: 2_000)
        other.start()
        network.run(for: 2_000)

        let warning = "the name 'bob' of \(other.suffix) is that of \(bob.suffix)"
        #expect(alice.said.filter { $0.hasPrefix(warning) }.count == 1)
        #expect(alice.statuses[other.key.peer]?.alarm?.owner == bob.key.peer)
        #expect(alice.statuses[bob.key.peer]?.alarm == nil)

        alice.decide(.trust, other)
        network.run(for: 1_000)
        other.leave()
        network.run(for: 1_000)
        other.start()
        network.run(for: 2_000)

        #expect(alice.statuses[other.key.peer]?.alarm == nil)
        #expect(alice.said.filter { $0.hasPrefix(warning) }.count == 1)
        #expect(alice.disk.records[other.key.peer]?.verdict == .trusted)
    }

    @Test(arguments: ["аlice", "ALICE", "alice\u{200B}", "a1ice"])
    func `a name that looks like another's is said at once`(twin: String) {
        let network = RoomNetwork(seed: 1, "bob", "alice", twin)
        let (bob, alice, other) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(alice, other)
        bob.start()
        alice.start()
        network.run(for: 2_000)
        other.start()
        network.run(for: 2_000)

        #expect(bob.said.contains { $0.contains("\(other.suffix) looks like 'alice', that of \(alice.suffix)") })
        #expect(bob.statuses[other.key.peer]?.alarm == NameAlarm(owner: alice.key.peer, name: "alice", isSame: false))
    }

    @Test func `names stay pinned from one run to the next, and a new name of a key is told`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.disk.records[bob.key.peer] = PeerRecord(name: "bert", firstSeen: 5, namedSince: 5, lastSeen: 5)
        network.startAll()
        network.run(for: 2_000)

        #expect(alice.said.first == "'bert' is now called 'bob'")
        #expect(alice.disk.records[bob.key.peer]?.name == "bob")
        #expect(alice.disk.records[bob.key.peer]?.firstSeen == 5)
    }

    @Test func `an author who was never met is told from whoever has the name`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol", "bob")
        let (alice, bob, carol, other) = (network.hosts[0], network.hosts[1], network.hosts[2], network.hosts[3])
        network.separate(alice, other)
        network.separate(bob, other)
        alice.start()
        bob.start()
        network.run(for: 2_000)
        carol.start()
        other.start()
        other.say("it is me")
        network.run(for: 10_000)

        #expect(alice.texts == ["it is me"])
        #expect(alice.said.contains { $0.hasPrefix("the name 'bob' of \(other.suffix) is that of \(bob.suffix)") })
    }

    // MARK: Blocking

    @Test func `a blocked peer's links end, it gets none again, and nothing that it writes is stored`() {
        let network = RoomNetwork(seed: 1, "alice", "mallory", "bob")
        let (alice, mallory, bob) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.startAll()
        mallory.say("before")
        network.run(for: 3_000)
        let command = alice.decide(.block, mallory)
        network.run(for: 3_000)
        mallory.say("after")
        network.run(for: 30_000)

        #expect(alice.replies[command] == .done)
        #expect(alice.texts == ["before"])
        #expect(bob.texts == ["before", "after"])
        #expect(alice.kept[1] == nil)
        #expect(alice.disk.records[mallory.key.peer]?.verdict == .blocked)

        alice.crash()
        network.run(for: 5_000)
        alice.start()
        network.run(for: 30_000)

        #expect(alice.texts == ["before"])
        #expect(alice.kept[1] == nil)

        alice.decide(.unblock, mallory)
        network.run(for: 60_000)

        #expect(alice.texts == ["before", "after"])
        #expect(alice.kept[1] != nil)
    }

    @Test func `what a blocked author wrote is not offered, and a request for it is answered with nothing`() {
        let network = RoomNetwork(seed: 1, "alice", "mallory", "bob")
        let (alice, mallory, bob) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(mallory, bob)
        alice.start()
        mallory.start()
        mallory.say("spam")
        network.run(for: 3_000)
        alice.decide(.block, mallory)
        network.run(for: 1_000)
        bob.start()
        alice.say("hello")
        network.run(for: 10_000)

        #expect(bob.texts == ["hello"])
    }

    // MARK: Admission

    @Test func `with ask a stranger waits, is told so, hears nothing, and comes in when it is accepted`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.admission = .ask
        alice.say("before")
        network.startAll()
        alice.say("secret")
        bob.say("let me in")
        network.run(for: 20_000)

        #expect(alice.said == ["'bob' (\(bob.suffix)) wants to come in: chat accept \(bob.suffix), or refuse"])
        #expect(bob.said == ["waiting for somebody in lab to let you in"])
        #expect(alice.statuses[bob.key.peer]?.state == .waiting)
        #expect(bob.statuses[alice.key.peer]?.state == .undecided)
        #expect(bob.texts == ["let me in"])
        #expect(alice.texts == ["secret"])
        #expect(Set(alice.messagesSent.keys) == [SessionMessage.Kind.waiting.rawValue])
        #expect(bob.messagesSent.isEmpty)

        let command = alice.decide(.accept, bob)
        network.run(for: 5_000)

        #expect(alice.replies[command] == .done)
        #expect(alice.texts.sorted() == ["let me in", "secret"])
        #expect(bob.texts.sorted() == ["let me in", "secret"])
        #expect(bob.said.last == "'alice' is Connected")
        #expect(alice.said.last == "'bob' is Connected")
    }

    @Test func `who was accepted once is known after a restart, and comes in unasked`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.admission = .ask
        network.startAll()
        network.run(for: 2_000)
        alice.decide(.accept, bob)
        network.run(for: 2_000)
        alice.leave()
        network.run(for: 2_000)
        alice.start()
        network.run(for: 40_000)

        #expect(alice.kept[1] != nil)
        #expect(alice.said.count { $0.contains("wants to come in") } == 1)
        #expect(bob.said.last == "'alice' is Connected")
    }

    @Test func `two hosts that both ask link once both have accepted`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.admission = .ask
        bob.admission = .ask
        network.startAll()
        alice.say("one")
        network.run(for: 2_000)
        alice.decide(.accept, bob)
        network.run(for: 2_000)
        #expect(bob.texts.isEmpty)
        bob.decide(.accept, alice)
        network.run(for: 2_000)

        #expect(bob.texts == ["one"])
    }

    @Test func `with known a stranger gets nothing, and a trusted one comes in`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.admission = .known
        network.startAll()
        alice.say("secret")
        network.run(for: 60_000)

        #expect(bob.texts.isEmpty)
        #expect(alice.said.isEmpty)
        #expect(bob.dialTimes.count + alice.dialTimes.count < 40)

        alice.decide(.trust, bob)
        network.run(for: 60_000)

        #expect(bob.texts == ["secret"])
    }

    @Test func `who is refused gets no link again, and is told no more`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.admission = .ask
        network.startAll()
        network.run(for: 2_000)
        alice.decide(.refuse, bob)
        network.run(for: 60_000)

        #expect(alice.kept[1] == nil)
        #expect(alice.said.count == 1)
        #expect(bob.said == ["waiting for somebody in lab to let you in"])
    }

    @Test func `waiting ends after a while, and only so many may wait`() {
        var limits = RoomLimits()
        limits.maximumWaiting = 2
        limits.waitingTime = 10_000
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol", "dave", limits: limits)
        let alice = network.hosts[0]
        for host in network.hosts.dropFirst() {
            for other in network.hosts.dropFirst() { network.separate(host, other) }
        }
        alice.admission = .ask
        network.startAll()
        network.run(for: 5_000)

        #expect(alice.statuses.values.count { $0.state == .waiting } == 2)
        #expect(alice.kept.count == 2)
        #expect(network.run(within: 6_000) { alice.kept.isEmpty })
    }

    // MARK: Limits

    @Test func `of authors never met only so many are stored, and who is met counts no more`() {
        var limits = RoomLimits()
        limits.maximumStrangers = 2
        let network = RoomNetwork(seed: 1, "alice", "relay", limits: limits)
        let (alice, relay) = (network.hosts[0], network.hosts[1])
        for number in 11...14 as ClosedRange<Int> {
            let key = Samples.key(number)
            let batch = Batch(
                sealing: [Samples.text("from \(number)", by: "n\(number)")], in: Samples.log(of: key), of: Samples.lab,
                first: 1, previous: .none, with: key)
            #expect(relay.disk.store(batch) == .stored([NewEvents(batch.numbers)]))
        }
        relay.limits.maximumStrangers = 256
        network.startAll()
        network.run(for: 20_000)

        #expect(relay.texts.count == 4)
        #expect(alice.texts.count == 2)
    }

    @Test(arguments: [(0, nil), (-590_000, nil), (5_400_000, "90 min ahead of"), (-260_000_000, "3 days behind")])
    func `the clock of a peer is told with its status, and said once if it is far off`(
        offset: Int64, words: String?
    ) throws {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        bob.clockOffset = offset
        network.startAll()
        network.run(for: 2_000)
        bob.crash()
        network.run(for: 2_000)
        bob.start()
        network.run(for: 2_000)

        let told = try #require(alice.statuses[bob.key.peer]?.clockOffset)
        #expect(abs(told - offset) < 5_000)
        let said = alice.said.filter { $0.hasPrefix("the clock of") }
        #expect(said == (words.map { ["the clock of 'bob' is \($0) this host's: one of them is wrong"] } ?? []))
    }
}

extension RoomHost {
    fileprivate var suffix: String { key.peer.suffix }
}
