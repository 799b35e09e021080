import Identity
import Testing

@testable import ChatModel

/// How often hosts tell one another what they have.
struct RoomHaveTests {
    private static let have = SessionMessage.Kind.have.rawValue

    /// Counts the words of one host to another about a log.
    private func count(_ words: Counter, _ host: RoomHost, to other: RoomHost, about author: PeerID) {
        host.tamper = { peer, message in
            if case .have(let have) = message, peer == other.key.peer,
                have.entries.contains(where: { $0.log.author == author })
            {
                words.count += 1
            }
            return message
        }
    }

    private final class Counter { var count = 0 }

    @Test func `who both get a log from its author tell one another once a second`() {
        let (network, alice, bob, carol) = RoomNetwork.three()
        let words = Counter()
        count(words, bob, to: carol, about: alice.key.peer)

        for number in 1...100 {
            alice.say("line \(number)")
            network.run(for: 50)
        }
        #expect((3...8).contains(words.count))
        network.run(for: 2_000)
        #expect(bob.texts.count == 100 && carol.texts.count == 100)
    }

    @Test func `who needs a host to get a log is told after 200 ms`() {
        let network = RoomNetwork(seed: 1, "alice", "bob", "carol")
        let (alice, bob, carol) = (network.hosts[0], network.hosts[1], network.hosts[2])
        network.separate(alice, carol)
        network.startAll()
        network.run(for: 1_000)
        for number in 1...20 {
            alice.say("line \(number)")
            #expect(network.run(within: 400) { carol.texts.count == number })
        }
        #expect(bob.texts.count == 20)
    }

    @Test func `when an author leaves, who has more of its log says so at once`() {
        let (network, alice, bob, carol) = RoomNetwork.three()
        alice.say("for all")
        network.run(for: 2_000)
        alice.tamper = { peer, message in
            if case .batch = message, peer == carol.key.peer { nil } else { message }
        }
        alice.say("for bob")
        #expect(network.run(within: 100) { bob.texts.count == 2 })
        network.run(for: 210)
        alice.leave()

        #expect(network.run(within: 500) { carol.texts.count == 2 })
    }
}
