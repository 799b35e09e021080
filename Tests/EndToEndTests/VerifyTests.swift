import Control
import Foundation
import Testing

/// Whether all hold the same, as anybody can ask.
@Suite(.fewAtOnce) struct VerifyTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func verify(_ peer: LocalPeer, _ words: String...) async throws -> (Exit, VerifyResult) {
        let outcome = try await peer.client.run(["verify", "--json"] + words, within: .seconds(40))
        return (outcome.exit, try JSONDecoder().decode(VerifyResult.self, from: Data(outcome.output.utf8)))
    }

    @Test func `while all talk and afterwards, everybody is told that all hold the same`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let carol = try await LocalPeer.start("carol", in: scratch, dialling: [alice.place, bob.place])
        try await carol.isLinked(with: "alice")
        try await carol.isLinked(with: "bob")
        let lines = (1...500).map { "line \($0)" }.joined(separator: "\n")
        async let talk: Void = withThrowingTaskGroup { group in
            for peer in [alice, bob, carol] {
                group.addTask { _ = try await peer.client.run("send", "-", input: lines, within: .seconds(60)) }
            }
            try await group.waitForAll()
        }

        for peer in [alice, bob, carol] {
            let (exit, result) = try await verify(peer, "--timeout", "30")
            #expect(exit == .status(0), "\(result)")
        }
        try await talk

        for peer in [alice, bob, carol] {
            let (exit, result) = try await verify(peer, "--timeout", "30")
            #expect(exit == .status(0))
            #expect(result.messages == 1_500 && result.peers.map(\.state) == [.same, .same])
        }
        let outcome = try await alice.client.run("verify")
        #expect(
            outcome.output.hasPrefix("all 3 hold the same 1500 messages: this host, "),
            "\(outcome.output)\(outcome.errors)")
    }

    @Test func `who asks several times at once is answered each time`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        #expect(try await bob.client.run("send", "hello").exit == .status(0))
        #expect(try await eventually { try await alice.texts() == ["hello"] })

        let outcomes = try await withThrowingTaskGroup { group in
            for _ in 1...4 { group.addTask { try await alice.client.run("verify") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        for outcome in outcomes { #expect(outcome.output == "both hold the same 1 message: this host, bob\n") }
    }

    @Test func `who stands still is named when the time is over`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        bob.daemon.process.signal(SIGSTOP)

        let outcome = try await alice.client.run("verify", "--timeout", "1")

        bob.daemon.process.signal(SIGCONT)
        #expect(outcome.exit == .status(75))
        #expect(outcome.lines.last == "bob did not answer in time")
        #expect(outcome.duration < .seconds(10))
    }

    @Test func `alone there is nobody to compare with`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let outcome = try await alice.client.run("verify")

        #expect(outcome.exit == .status(75))
        #expect(outcome.output == "nobody else is linked; this host holds 0 messages\n")
    }

    @Test func `what one of them lost behind its own back is found`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let lines = (1...9).map { "line \($0)" }
        #expect(try await alice.client.run("send", "--wait", "all", "--timeout", "20", "first").exit == .status(0))
        for line in lines { #expect(try await alice.client.run("send", line).exit == .status(0)) }
        #expect(try await eventually { try await bob.texts().count == 10 })
        #expect(try await verify(alice).0 == .status(0))
        let removed = try await run([
            "python3", "-c",
            "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('DELETE FROM batch WHERE first = 4 AND last = 4'); d.commit()",
            "\(bob.daemon.state)/history.db",
        ])
        #expect(removed.exit == .status(0), "\(removed.errors)")

        let fromAlice = try await alice.client.run("verify", "--timeout", "2")
        let fromBob = try await bob.client.run("verify", "--timeout", "2")

        #expect(fromAlice.exit == .status(1) && fromBob.exit == .status(1))
        #expect(fromAlice.output.contains("bob lacks 4 of alice\n"))
        #expect(fromBob.output.contains("this host lacks 4 of alice, which alice has\n"))
    }

    @Test func `what rotted on the disk of one of them is found`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        for line in ["one", "two", "three"] {
            #expect(try await alice.client.run("send", "--wait", "all", "--timeout", "20", line).exit == .status(0))
        }
        let change = """
            import sqlite3, sys
            d = sqlite3.connect(sys.argv[1])
            (row, text), = d.execute("SELECT row, bytes FROM batch WHERE first = 2 AND last = 2")
            d.execute("UPDATE batch SET bytes = ? WHERE row = ?", (text.replace(b"two", b"tvo"), row))
            d.commit()
            """
        let changed = try await run(["python3", "-c", change, "\(bob.daemon.state)/history.db"])
        #expect(changed.exit == .status(0), "\(changed.errors)")

        let fromAlice = try await alice.client.run("verify", "--timeout", "2")
        let fromBob = try await bob.client.run("verify", "--timeout", "2")

        #expect(fromAlice.exit == .status(1) && fromBob.exit == .status(1))
        #expect(fromAlice.output.contains("bob lacks 2 of alice\n"), "\(fromAlice.output)")
        #expect(fromBob.output.contains("this host lacks 2 of alice, which alice has\n"), "\(fromBob.output)")
    }
}
