import Control
import Foundation
import Testing

/// Who has stored what, as the sender learns it.
@Suite(.fewAtOnce) struct DeliveryTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func send(_ peer: LocalPeer, _ words: String...) async throws -> String {
        let outcome = try await peer.client.run(["send", "--print-id"] + words, within: .seconds(60))
        try #require(outcome.exit == .status(0), "\(outcome.errors)")
        return try #require(outcome.lines.last)
    }

    private func delivery(_ peer: LocalPeer, _ id: String) async throws -> DeliveryView {
        let outcome = try await peer.client.run("delivery", "--json", id)
        try #require(outcome.exit == .status(0), "\(outcome.errors)")
        return try JSONDecoder().decode(DeliveryView.self, from: Data(outcome.output.utf8))
    }

    private func states(_ view: DeliveryView) -> [String: DeliveryView.Peer.State] {
        view.peers.reduce(into: [:]) { $0[$1.name] = $1.state }
    }

    @Test func `a sender that waits for all goes on when all have it, and its log counts them`() async throws {
        let (alice, bob) = try await pair(in: scratch)

        let id = try await send(alice, "--wait", "all", "--timeout", "20", "lunch?")

        #expect(try await bob.texts() == ["lunch?"])
        #expect(states(try await delivery(alice, id)) == ["bob": .stored])
        #expect(try await alice.client.run("log").output.hasSuffix("alice: lunch?  1/1\n"))
        #expect(try await bob.client.run("log").output.hasSuffix("alice: lunch?\n"))
    }

    @Test func `who is away is pending, by name, and has it when it is back`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        try await bob.daemon.kill()
        try await alice.daemon.log("bob gone", within: .seconds(30)) { $0.contains("'bob' is Not Connected") }

        let late = try await alice.client.run("send", "--wait", "any", "--timeout", "0.5", "for later")
        #expect(late.exit == .status(75))
        #expect(late.errors.hasPrefix("chat: stored here; 0 of 1 have it, not yet bob (away since "))
        #expect(try await alice.client.run("log").output.contains("alice: for later  0/1\n"))
        let table = try await alice.client.run("delivery")
        #expect(table.lines.first == "stored by 0 of 1")
        #expect(table.lines.last?.hasPrefix("  bob  pending  away since ") == true)

        let waiting = try alice.client.start("send", "--wait", "all", "now")
        let back = try LocalPeer("bob", in: scratch, at: bob.place, dialling: [alice.place])
        try await back.isUp()
        #expect(try await waiting.exit(within: .seconds(30)) == .status(0))
        #expect(try await alice.client.run("delivery").lines == ["stored by 1 of 1", "  bob  stored"])
    }

    @Test func `what is sent with nobody there is delivered when somebody comes, and the receipt shows`() async throws {
        let (here, there) = (Place.new(), Place.new())
        let alice = try await LocalPeer.start("alice", in: scratch, at: here, dialling: [there])
        let id = try await send(alice, "hello?")
        #expect(try await delivery(alice, id).peers.isEmpty)
        let waiting = try alice.client.start("send", "--wait", "any", "anybody?")

        let bob = try await LocalPeer.start("bob", in: scratch, at: there, dialling: [here])

        #expect(try await waiting.exit(within: .seconds(30)) == .status(0))
        #expect(states(try await delivery(alice, id)) == ["bob": .stored])
        #expect(try await bob.texts() == ["hello?", "anybody?"])
    }

    @Test func `who is reached through a third alone gives a receipt, which outlives the sender's next start`()
        async throws
    {
        let (here, middle) = (Place.new(), Place.new())
        let bob = try await LocalPeer.start("bob", in: scratch, at: middle)
        let alice = try await LocalPeer.start("alice", in: scratch, at: here, dialling: [middle])
        let carol = try await LocalPeer.start("carol", in: scratch, dialling: [middle])
        for other in [alice, carol] { try await other.isLinked(with: "bob") }
        _ = try await send(carol, "I am here")
        #expect(try await eventually { try await alice.texts() == ["I am here"] })

        let id = try await send(alice, "--wait", "2", "--timeout", "30", "to both")
        #expect(states(try await delivery(alice, id)) == ["bob": .stored, "carol": .stored])

        try await carol.daemon.kill()
        try await bob.daemon.kill()
        #expect(try await alice.daemon.terminate() == .status(0))
        let again = try await LocalPeer.start("alice", in: scratch, at: here)
        #expect(states(try await delivery(again, id)) == ["bob": .stored, "carol": .stored])
    }

    @Test func `a message that nobody knows is status 64`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)

        #expect(try await alice.client.run("delivery").exit == .status(64))
        #expect(try await alice.client.run("delivery", String(repeating: "0", count: 64)).exit == .status(64))
        #expect(try await alice.client.run("delivery", "what").exit == .status(64))
    }
}
