import ChatModel
import Control
import Foundation
import Glibc
import Identity
import Testing

/// Nothing that a peer wrote drives a terminal, wherever it is shown.
@Suite(.fewAtOnce) struct HostileTextTests {
    static let payloads = [
        "\u{1b}[2J", "\u{1b}]0;pwn\u{7}", "\u{1b}]52;c;eA==\u{7}", "\rbob: fake", String(repeating: "\u{8}", count: 20),
        "\u{9b}2J", "\u{202e}gpj.exe", "\u{1b}[?1000h", "\u{7f}", "\u{0}", "\u{2066}x\u{2069}", "\u{85}next",
        "\u{feff}",
        "a\u{200b}b",
    ]
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// What no line may have in it, but for the terminal's own control sequences.
    private func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0a: true
            case 0x00...0x1f, 0x7f...0x9f, 0x202a...0x202e, 0x2066...0x2069: false
            default: true
            }
        }
    }

    @Test func `bodies, image names and reasons are shown with escapes by every view`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let piped = try Subprocess(
            ["bash", "-c", "\"$0\" --state-dir \"$1\" <&0 | cat", Programs.built.chat, alice.daemon.state], input: .open
        )
        let terminal = try Subprocess(
            ["script", "-qec", "\(Programs.built.chat) --state-dir \(alice.daemon.state)", "/dev/null"],
            environment: ["TERM": "xterm-256color"], input: .open)
        let hasBegun = await eventually {
            _ = try? await alice.client.run("send", "ready")
            return await eventually(within: .seconds(1)) {
                piped.output.text.contains("ready") && terminal.output.text.contains("ready")
            }
        }
        try #require(hasBegun)
        let peer = try FakePeer.join("mallory", dialling: alice.place)
        for payload in Self.payloads { try peer.say([.text("body \(payload)")]) }
        for payload in Self.payloads {
            try peer.announce("\(payload).png", 1, BlobRoot(SHA256.digest(of: Array(payload.utf8))))
        }
        try peer.say([.text("done")])
        let file = try scratch.file("x.png", picture(10))
        let sending = try alice.client.start("send-image", file)
        let line = try await alice.image("x.png") { _ in true }
        let root = try #require(BlobRoot(hexadecimal: line.root))
        try peer.say(
            .blobState(
                BlobState(root: root, progress: .refused(Self.payloads.joined()))))
        #expect(try await sending.exit(within: .seconds(20)) == .status(75))

        for process in [piped, terminal] {
            #expect(await eventually { process.output.text.contains("mallory: done") })
        }
        let log = try await alice.client.run("log", "-n", "1000")
        let json = try await alice.client.run("log", "-n", "1000", "--json")
        for text in [log.output, json.output, piped.output.text, sending.errors.text, alice.daemon.process.errors.text]
        {
            #expect(isHarmless(text))
        }
        for shown in [log.output, piped.output.text, terminal.output.text] {
            #expect(shown.contains("mallory: body \\x1b[2J"))
            #expect(shown.contains("body \\x0dbob: fake"))
            #expect(shown.contains("body \\x9b2J"))
            #expect(shown.contains("body \\u{202e}gpj.exe"))
            #expect(shown.contains("\\x1b]52;c;eA==\\x07.png"))
        }
        #expect(sending.errors.text.hasPrefix("mallory: \\x1b[2J\\x1b]0;pwn\\x07"))
        // The terminal's own sequences aside, these came from nobody but the peer.
        for payload in Self.payloads { #expect(!terminal.output.text.contains(payload)) }
        #expect(!log.lines.contains { $0.hasPrefix("bob: ") })
    }

    @Test func `a name that could is nobody's name`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        try await alice.isLinked(with: "friend")
        for payload in Self.payloads.prefix(12) {
            let chatd = try await run(
                [
                    "python3", "-c", "import os, sys; os.execv(sys.argv[1], sys.argv[1:])", Programs.built.chatd,
                    "--state-dir", scratch("other"), "--room", "lab", "--name",
                    payload.replacingOccurrences(of: "\0", with: "\u{1}"),
                ])
            #expect(chatd.exit == .status(64))
            #expect(chatd.errors == "chatd: the name has a control or text-direction character; use plain letters\n")
            let peer = try FakePeer.join(payload, dialling: alice.place)
            #expect(await eventually { peer.isOver })
            try friend.say([.text("under another name")], author: payload)
        }
        let room = try await run([Programs.built.chat, "--room", "\u{1b}[2J", "send", "hi"])
        #expect(room.exit == .status(64))
        #expect(isHarmless(room.errors))
        #expect(isHarmless(try await alice.client.run("log").output))
        #expect(isHarmless(try await alice.client.run("peers").output))
        #expect(isHarmless(alice.daemon.process.errors.text))
        #expect(try await alice.peers().map(\.name) == ["friend"])
        #expect(try await alice.texts() == [])
    }
}
