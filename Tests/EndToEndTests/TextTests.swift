import ChatModel
import Control
import Foundation
import Glibc
import Testing

/// Texts of all kinds: what is taken arrives as it was, what isn't is one line and status 65.
@Suite(.fewAtOnce) struct TextTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `2,000 lines through a pipe arrive once, in order, and no descriptor is left open`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        #expect(try await alice.client.run("send", "line 0 of many").exit == .status(0))
        let before = alice.descriptors
        let lines = (1...2_000).map { "line \($0) of many" }

        let outcome = try await alice.client.run(
            "send", "-", input: lines.joined(separator: "\n") + "\n", within: .seconds(60))

        #expect(outcome.exit == .status(0))
        #expect(outcome.errors == "")
        #expect(await eventually(within: .seconds(30)) { (try? await bob.texts().count) == lines.count + 1 })
        #expect(try await bob.texts() == ["line 0 of many"] + lines)
        #expect(try await alice.texts() == ["line 0 of many"] + lines)
        #expect(await eventually(within: promised(.seconds(2))) { alice.descriptors <= before })
    }

    @Test func `100,000 characters in one line are an error that names the limit, and what came before is stored`()
        async throws
    {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let long = String(repeating: "x", count: 100_000)
        #expect(try await alice.client.run("send", "zero").exit == .status(0))
        let before = alice.descriptors

        let word = try await alice.client.run("send", long)
        #expect(word.exit == .status(65))
        #expect(word.errors == "chat: the text has 100000 bytes; the limit is 16384 bytes\n")

        let piped = try await alice.client.run("send", "-", input: "one\ntwo\n\(long)\nfour\n")
        #expect(piped.exit == .status(65))
        #expect(piped.errors == "chat: line 3 has 100000 bytes; the limit is 16384 bytes; 2 messages are stored\n")

        #expect(try await alice.texts() == ["zero", "one", "two"])
        #expect(await eventually(within: promised(.seconds(2))) { alice.descriptors <= before })
    }

    @Test func `the limit is in bytes, and a text of exactly that many arrives as it was`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let full = String(repeating: "é", count: 8_192)

        let over = try await alice.client.run("send", full + "!")
        #expect(over.exit == .status(65))
        #expect(over.errors == "chat: the text has 16385 bytes; the limit is 16384 bytes\n")
        #expect(try await alice.client.run("send", full).exit == .status(0))
        #expect(try await alice.client.run("send", "-", input: full).exit == .status(0))

        #expect(await eventually { (try? await bob.texts()) == [full, full] })
    }

    @Test func `what is not UTF-8 is status 65, and what came before it is stored`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let script = "printf 'good\\nb\\351d\\n' | \"$0\" --state-dir \"$1\" send -"

        let outcome = try await run(["bash", "-c", script, Programs.built.chat, alice.daemon.state])

        #expect(outcome.exit == .status(65))
        #expect(outcome.errors == "chat: line 2 is not UTF-8; 1 message is stored\n")
        #expect(try await alice.texts() == ["good"])
    }

    @Test func `lines end at LF alone, with CR or without, and the last one needs no end`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)

        #expect(try await alice.client.run("send", "-", input: "a\r\nb\n").exit == .status(0))
        #expect(try await alice.client.run("send", "-", input: "\n\nc\nd").exit == .status(0))
        #expect(try await alice.client.run(input: "e\u{2028}f\u{b}g\u{85}h\rj\n").exit == .status(0))

        #expect(try await alice.texts() == ["a", "b", "c", "d", "e\u{2028}f\u{b}g\u{85}h\rj"])
    }

    @Test func `any text that can be typed arrives byte for byte`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let texts = [
            "x", " ", "--", "héllo 🧑‍🌾 한글", "e\u{301}", "שלום עולם", "مرحبا", "\u{202e}gpj.exe", "\u{1b}[2J",
            "tab\tand more",
            "two\nlines", "\u{feff}bom", "🇩🇪👍🏽🅱️", "nul\u{0}inside",
        ]

        for text in texts where !text.contains("\0") {
            #expect(try await alice.client.run("send", "--", text).exit == .status(0))
        }
        #expect(try await alice.client.run("send", "-", input: "nul\u{0}inside\n").exit == .status(0))

        // Swift holds é in one scalar and in two for the same; bytes differ.
        let expected = texts.map { Array($0.utf8) }
        #expect(await eventually { (try? await bob.texts().map { Array($0.utf8) }) == expected })
        #expect(try await alice.texts().map { Array($0.utf8) } == expected)
    }

    @Test func `words are joined by a space, and options end at the first of them`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)

        #expect(try await alice.client.run("send", "two", "words").exit == .status(0))
        #expect(try await alice.client.run("send", "see", "--help").exit == .status(0))
        #expect(try await alice.client.run("send", "--", "--help").exit == .status(0))
        #expect(try await alice.client.run("send", "-", "dash").exit == .status(0))

        #expect(try await alice.texts() == ["two words", "see --help", "--help", "- dash"])
    }

    @Test func `one nonce is one message, and another text under it is an error`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let nonce = String(repeating: "0a", count: 16)

        let first = try await alice.client.run("send", "--print-id", "--nonce", nonce, "once")
        let second = try await alice.client.run("send", "--print-id", "--nonce", nonce, "once")
        let other = try await alice.client.run("send", "--nonce", nonce, "twice")

        #expect(first.exit == .status(0))
        #expect(first.output.count == 65)
        #expect(second.output == first.output)
        #expect(other.exit == .status(65))
        #expect(other.errors == "chat: this nonce was used for another message\n")
        #expect(try await alice.texts() == ["once"])
    }

    @Test func `said to nobody is stored, with status 0 and a line that says so`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)

        for outcome in [
            try await alice.client.run("send", "hi"), try await alice.client.run("send", "-", input: "hi\n"),
            try await alice.client.run(input: "hi\n"),
        ] {
            #expect(outcome.exit == .status(0))
            #expect(outcome.errors == "stored; nobody else is in lab yet\n")
        }
        #expect(try await alice.rows().map(\.text) == ["hi", "hi", "hi"])
    }

    @Test func `said before the daemon is up waits for it`() async throws {
        let waiting = try Client(state: scratch("alice-state")).start("send", "early")
        let alice = try await LocalPeer.start("alice", in: scratch)

        let exit = try await waiting.exit(within: .seconds(20))

        #expect(exit == .status(0), "\(waiting.errors.text)")
        #expect(try await alice.texts() == ["early"])
    }

    @Test func `said while a peer is being introduced comes once, after that`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let peer = try FakePeer(dialling: alice.place)

        let outcome = try await alice.client.run("send", "meanwhile")
        #expect(outcome.exit == .status(0))
        #expect(outcome.errors == "stored; nobody else is in lab yet\n")
        try peer.introduce()
        try peer.say(.have(Have(entries: [])))

        #expect(await eventually { peer.texts == ["meanwhile"] })
        #expect(try await alice.client.run("send", "after").exit == .status(0))
        #expect(await eventually { peer.texts == ["meanwhile", "after"] })
    }
}
