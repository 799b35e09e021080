import Identity
import Testing

@testable import ChatModel

struct RoomTalkTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `two hosts say things, and both show each line once and in one order`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 500)

        for number in 1...10 {
            (number.isMultiple(of: 3) ? alice : bob).say("line \(number)")
            network.run(for: network.chance(0...60))
        }
        network.run(for: 2_000)

        #expect(alice.texts.sorted() == (1...10).map { "line \($0)" }.sorted())
        #expect(bob.texts.sorted() == alice.texts.sorted())
        #expect(bob.disk.lines.map(\.id) == alice.disk.lines.map(\.id))
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>, [3, 8])
    func `hosts that all see each other get each event over one link once`(seed: UInt64, count: Int) {
        let network = RoomNetwork(seed: seed, (0..<count).map { "host \($0)" })
        network.startAll()
        network.run(for: 2_000)
        let batch = SessionMessage.batch([]).encoded.kind

        for number in 1...10 {
            network.hosts[number % count].say("line \(number)")
            network.run(for: 100)
        }
        network.run(for: 2_000)

        for host in network.hosts { #expect(host.texts == (1...10).map { "line \($0)" }) }
        #expect(network.hosts.map { $0.messagesSent[batch] ?? 0 }.reduce(0, +) == 10 * (count - 1))
        #expect(network.hosts.allSatisfy { $0.messagesSent[SessionMessage.Kind.want.rawValue] == nil })
    }

    @Test func `a line is shown and replied to after its commit, and reaches those who are there in one way's time`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 2_000)

        let command = alice.say("lunch?")
        #expect(alice.texts.isEmpty && alice.replies[command] == nil)
        #expect(network.run(within: 30) { bob.texts == ["lunch?"] })

        guard case .stored(let id, 1, let receivers)? = alice.replies[command] else {
            return #expect(Bool(false), "no reply")
        }
        #expect(receivers == [bob.key.peer: "bob"])
        #expect(alice.screen.last?.id == id)
        #expect(alice.screen.last?.direction == .send && bob.screen.last?.direction == .receive)
        #expect(bob.screen.last?.name == "alice")
    }

    @Test func `what is said with nobody there is stored, and arrives when somebody comes`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.start()
        let command = alice.say("hello?")
        network.run(for: 100)
        guard case .stored(_, 1, let receivers)? = alice.replies[command] else {
            return #expect(Bool(false), "no reply")
        }
        #expect(receivers.isEmpty)

        bob.start()
        #expect(network.run(within: 500) { bob.texts == ["hello?"] })
    }

    @Test func `a message sent again under its nonce is the same message, and another text under it is refused`() {
        let network = RoomNetwork(seed: 1, "alice")
        let alice = network.hosts[0]
        alice.start()
        let first = alice.say("once", nonce: Nonce(5))
        network.run(for: 100)
        let again = alice.say("once", nonce: Nonce(5))
        network.run(for: 100)
        let other = alice.say("twice", nonce: Nonce(5))
        network.run(for: 100)

        #expect(alice.texts == ["once"])
        #expect(alice.replies[again] == alice.replies[first])
        #expect(alice.replies[other] == .failed(.nonceTaken))
    }

    @Test func `who was away catches up from a third host when the author has left`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        alice.start()
        bob.start()
        network.run(for: 500)
        for number in 1...30 {
            alice.say("line \(number)")
            network.run(for: 20)
        }
        network.run(for: 500)
        alice.leave()
        network.run(for: 500)

        carol.start()

        #expect(network.run(within: 1_000) { carol.texts == (1...30).map { "line \($0)" } })
        #expect(bob.texts == carol.texts)
        network.run(for: 10_000)
        #expect(carol.texts.count == 30)
    }

    @Test func `two hosts that reach only a third have each other's lines`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(alice, carol)
        network.startAll()
        network.run(for: 1_000)

        alice.say("from alice")
        carol.say("from carol")
        #expect(network.run(within: 1_500) { alice.texts.count == 2 && carol.texts.count == 2 })

        network.run(for: 10_000)
        #expect(
            [alice, bob, carol].allSatisfy { Set($0.texts) == ["from alice", "from carol"] && $0.texts.count == 2 })
        #expect(carol.screen.first { $0.peer == alice.key.peer }?.name == "alice")
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `in a chain of four each has every line once, and each passes over each link once`(seed: UInt64) {
        let network = RoomNetwork(seed: seed, "alice", "bob", "carol", "dave")
        for (one, other) in [(0, 2), (0, 3), (1, 3)] { network.separate(network.hosts[one], network.hosts[other]) }
        network.startAll()
        network.run(for: 2_000)

        for number in 1...12 {
            network.hosts[number % 4].say("line \(number)")
            network.run(for: 3_000)
        }
        #expect(network.run(within: 5_000) { network.hosts.allSatisfy { $0.texts.count == 12 } })

        for host in network.hosts { #expect(host.texts == (1...12).map { "line \($0)" }) }
        let batch = SessionMessage.batch([]).encoded.kind
        #expect(network.hosts.map { $0.messagesSent[batch] ?? 0 }.reduce(0, +) == 3 * 12)
    }

    @Test func `what was said while a host was away is marked as late, and what is said then isn't`() throws {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.start()
        alice.say("long ago")
        network.run(for: 12 * 60_000)
        bob.start()
        #expect(network.run(within: 5_000) { bob.texts == ["long ago"] })
        alice.say("now")
        #expect(network.run(within: 1_000) { bob.texts == ["long ago", "now"] })

        guard case .late(let delay) = bob.screen[0].timing else { return #expect(Bool(false), "not late") }
        #expect((720_000...726_000).contains(delay))
        #expect(bob.screen[1].timing == .usual && alice.screen.allSatisfy { $0.timing == .usual })
    }

    @Test(
        arguments: [
            (0, .late(by: 100_000_000)), (99_940_000, .usual), (99_939_999, .late(by: 60_001)), (100_600_000, .usual),
            (100_600_001, .ahead(by: 600_001)), (1 << 48 - 1, .ahead(by: 1 << 48 - 1 - 100_000_000)),
        ] as [(UInt64, Transcript.Timing)]) func `an event is late by its clock, not by its label, or too far ahead`(
            said: UInt64, timing: Transcript.Timing
        )
    {
        let clock = HybridTime(milliseconds: said, counter: 7)
        #expect(Transcript.Timing(of: clock, arrived: 100_000_000, clockLead: 600_000) == timing)
    }

    @Test func `a newcomer of an author who talks on is pushed to from the first`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        alice.start()
        for number in 1...100 {
            alice.say("line \(number)")
            network.run(for: 10)
        }
        bob.start()
        for number in 101...300 {
            alice.say("line \(number)")
            network.run(for: 10)
        }

        // Not at the end of the talk, in the midst of it: the newest line is here soon after it was said.
        #expect(network.run(within: 60) { bob.texts.count == 300 })
        #expect(bob.texts.suffix(150) == alice.texts.suffix(150) && Set(bob.texts) == Set(alice.texts))
    }

    @Test func `an author too far ahead stops pushing, and its reader pulls the rest`() {
        var limits = RoomLimits()
        limits.pushAhead = 5
        let network = RoomNetwork(seed: 1, "alice", "bob", limits: limits)
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        let have = SessionMessage.Kind.have.rawValue
        bob.tamper = { $1.encoded.kind == have ? nil : $1 }  // what bob has is never confirmed

        for number in 1...20 {
            alice.say("line \(number)")
            network.run(for: 10)
        }
        #expect(alice.messagesSent[SessionMessage.Kind.batch.rawValue] ?? 0 <= 5)

        bob.tamper = { $1 }
        #expect(network.run(within: 3_000) { bob.texts.count == 20 })
        #expect(bob.texts == alice.texts)
    }

    @Test func `a lost push is noticed by the next one, and fetched`() {
        let network = RoomNetwork(seed: 1, "alice", "bob")
        let (alice, bob) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        alice.tamper = { $1.encoded.kind == SessionMessage.Kind.batch.rawValue ? nil : $1 }
        alice.say("one")
        network.run(for: 20)
        alice.tamper = { $1 }
        alice.say("two")

        #expect(network.run(within: 200) { Set(bob.texts) == ["one", "two"] })
    }

    @Test func `a fork is noticed once, and the log goes on for nobody`() {
        let network = RoomNetwork(seed: 1, "alice", "mallory")
        let (alice, mallory) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        mallory.say("one")
        network.run(for: 1_000)
        for text in ["other", "third"] {
            let batch = Batch(
                sealing: [Samples.text(text, by: "mallory")], in: mallory.disk.ownLog, of: network.id, first: 1,
                previous: .none, with: mallory.key)
            alice.take(.message(mallory.key.peer, .batch(batch.bytes)))
            network.run(for: 100)
        }
        network.run(for: 20_000)

        #expect(alice.texts == ["one"])
        #expect(alice.said.filter { $0.contains("two histories") }.count == 1)
    }

    @Test func `a clock at its end neither traps nor moves ours by more than ten minutes`() {
        let network = RoomNetwork(seed: 1, "alice", "mallory")
        let (alice, mallory) = (network.hosts[0], network.hosts[1])
        network.startAll()
        network.run(for: 1_000)
        let batch = Batch(
            sealing: [Samples.text("late", by: "mallory", clock: .max)], in: mallory.disk.ownLog, of: network.id,
            first: 1, previous: .none, with: mallory.key)
        alice.take(.message(mallory.key.peer, .batch(batch.bytes)))
        network.run(for: 100)
        alice.say("now")
        network.run(for: 100)

        let lead = alice.room.clock.milliseconds - (1_700_000_000_000 + network.now)
        #expect(lead <= 600_001)

        alice.crash()
        alice.start()  // the disk's latest clock is the liar's
        alice.say("after")
        network.run(for: 100)
        #expect(alice.texts.count == 3)
    }

    @Test func `a direct log is named and served to its two ends alone`() {
        let (network, alice, bob, carol) = RoomNetwork.three()
        let direct = Samples.log(of: alice.key, audience: bob.key.peer.key)
        let batch = Batch(
            sealing: [Samples.text("psst")], in: direct, of: network.id, first: 1, previous: .none, with: alice.key)
        bob.take(.message(alice.key.peer, .batch(batch.bytes)))
        network.run(for: 1_000)
        #expect(bob.texts == ["psst"])
        var named: Set<PeerID> = []
        bob.tamper = { peer, message in
            if case .have(let have) = message, have.entries.contains(where: { $0.log == direct }) { named.insert(peer) }
            if case .batch = message { named.insert(peer) }
            return message
        }

        carol.crash()
        network.run(for: 100)
        carol.start()
        bob.take(.message(carol.key.peer, .want(Want(log: direct, numbers: 1...1))))
        alice.crash()
        network.run(for: 100)
        alice.start()
        network.run(for: 2_000)
        bob.take(.message(carol.key.peer, .want(Want(log: direct, numbers: 1...1))))
        network.run(for: 2_000)

        #expect(named == [alice.key.peer])
    }
}
