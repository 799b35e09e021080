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
        let last = ["carol 4", "bob 30"].compactMap(alice.texts.firstIndex)
        #expect(last.count == 2 && last == last.sorted())
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
        #expect(network.run(within: 1_000) { dave.room.logs[alice.disk.ownLog]?.asked != nil })
        let asked = dave.room.logs[alice.disk.ownLog]?.asked?.holder
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
}
