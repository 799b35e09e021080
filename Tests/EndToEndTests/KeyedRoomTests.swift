import ChatModel
import Control
import Foundation
import Glibc
import Identity
import Testing

/// Rooms that only those can join who have the key.
@Suite(.fewAtOnce) struct KeyedRoomTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func newKey(_ room: String, for name: String = "alice") async throws -> ChatKey {
        let made = try await run([
            Programs.built.chat, "key", "new", "--room", room, "--state-dir", scratch(name),
        ])
        #expect(made.exit == .status(0) && made.errors.isEmpty)
        return try ChatKey(made.output)
    }

    private func file(_ text: String, mode: mode_t = 0o600, _ name: String = "lab.key") throws -> String {
        let path = try scratch.file(name, Array(text.utf8))
        chmod(path, mode)
        return path
    }

    @Test func `chat key new needs no daemon, and makes another key each time, of this host`() async throws {
        let keys = [try await newKey("lab"), try await newKey("LAB")]

        #expect(keys[0].roomID != keys[1].roomID && keys.allSatisfy { $0.room == "lab" })
        let seed = try Data(contentsOf: URL(fileURLWithPath: scratch("alice") + "/identity"))
        #expect(keys.allSatisfy { $0.owner == SigningKey(seed: Array(seed))?.peer })
        var status = stat()
        #expect(stat(scratch("alice") + "/identity", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `a key file that others can reach, that is damaged, missing or of another room is refused`()
        async throws
    {
        let key = try await newKey("lab").text
        let cases: [(file: String, more: [String], status: CInt, reason: String)] = [
            (try file(key, mode: 0o640, "group"), [], 77, "others can reach"),
            (try file(key, mode: 0o604, "others"), [], 77, "others can reach"),
            (try file(String(key.dropLast(2)), "cut"), [], 65, "damaged"),
            (try file("password", "weak"), [], 65, "chat-key:"),
            (try file("", "empty"), [], 65, "chat-key:"),
            (scratch("missing"), [], 66, "No such file"),
            ("/dev/null", [], 66, "regular"),
            (try file(key, "good"), ["--room", "ops"], 64, "of room 'lab'"),
        ]
        for (file, more, status, reason) in cases {
            let refused = try await run(
                [Programs.built.chatd, "--state-dir", scratch("refused"), "--key-file", file, "--name", "x"] + more)

            #expect(refused.exit == .status(status), "\(file): \(refused.errors)")
            #expect(refused.errors.contains(reason) && !refused.errors.contains(key.suffix(20)))
        }
    }

    @Test func `who has the key meets, an open room and another key of the same name stay apart`() async throws {
        let host = Host.lonely(try await Lonely())
        let (key, other) = (try file(try await newKey("lab").text), try file(try await newKey("lab").text, "other.key"))
        let keyed = ["alice", "bob"].map { Member($0, in: "lab", on: host, keeping: scratch, ["--key-file", key]) }
        let stranger = Member("mallory", in: "lab", on: host, keeping: scratch, ["--key-file", other])
        let open = Member("carol", in: "lab", on: host, keeping: scratch)

        try stranger.start()
        try open.start()
        for member in keyed { try member.start() }
        try await awaitMeeting(keyed, within: .seconds(20))
        try await keyed[0].send("among us")
        try await keyed[1].awaitTexts(["among us"])

        #expect(try await keyed[0].peers().map(\.name) == ["bob"])
        #expect(try await stranger.peers().isEmpty)
        #expect(try await open.peers().isEmpty)
        #expect(try keyed[0].daemon.log.contains("chatd: keyed: only who has the room's key can join"))
        try await leave(keyed + [stranger, open])
    }

    @Test func `chatd alone joins the keyed room of last time, and an open one when its name is said`() async throws {
        let key = try file(try await newKey("lab").text)
        let options = ["--discovery", "none"]
        let first = try Daemon(["--key-file", key, "--name", "alice"] + options, state: scratch("alice"))
        try await first.log("the room") { $0.contains("keyed: only") }
        #expect(try await first.terminate() == .status(0))

        let second = try Daemon(options, state: scratch("alice"))
        try await second.log("the keyed room again") { $0.contains("keyed: only") }
        #expect(try await second.terminate() == .status(0))

        let third = try Daemon(["--room", "lab"] + options, state: scratch("alice"))
        #expect(try await third.process.exit(within: .seconds(10)) == .status(64))
        #expect(third.process.errors.text.contains("another room"))
    }
}

extension LabTests {
    /// What somebody learns who listens on every cable (threat A1).
    @Suite(.sharedLab(2, avahi: .none)) struct KeyedRoomOnTheWire {
        private let scratch = try? Scratch()

        @Test func `the wire shows no room, name, host, text or file of a keyed room`() async throws {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            let key = ChatKey(newRoom: "backroom", owner: SigningKey().peer)
            let file = try scratch.file("room.key", Array(key.text.utf8))
            chmod(file, 0o600)
            let image = try SampleImage.jpeg(size: 2 << 20)
            let members = [("Rosencrantz", 1), ("Guildenstern", 2)].map { name, host in
                Member(name, in: "backroom", on: lab[host], keeping: scratch, ["--key-file", file])
            }
            let capture = try Subprocess([
                "ip", "netns", "exec", "\(lab.name)-lan", LabScripts.capture, scratch("frames"), "p1", "p2",
            ])
            _ = try await capture.output.line("ready") { $0 == "ready" }

            for member in members { try member.start() }
            try await awaitMeeting(members)
            try await members[0].send("the play's the thing")
            try await members[1].send("words, words, words")
            let sent = try await members[0].client.run("send-image", try scratch.file("elsinore.jpg", image))
            #expect(sent.exit == .status(0))
            for member in members { try await member.awaitTexts(["the play's the thing", "words, words, words"]) }
            try await leave(members)
            capture.signal(SIGTERM)
            _ = try await capture.exit(within: .seconds(5))

            let frames = try Data(contentsOf: URL(fileURLWithPath: scratch("frames")))
            #expect(frames.count > 2 * image.count)
            for shown in ["_groupchat".data(using: .utf8), Data([3]) + Data("v=1".utf8)] {
                #expect(frames.range(of: try #require(shown)) != nil)
            }
            let peers = try members.map { member in
                try #require(
                    SigningKey(seed: Array(try Data(contentsOf: URL(fileURLWithPath: member.state + "/identity"))))
                )
                .peer
            }
            let secrets: [[UInt8]] =
                ["backroom", "Rosencrantz", "Guildenstern", "the play's", "words, words", "elsinore"].map {
                    Array($0.utf8)
                }
                + [[2] + Array("h1".utf8) + [5], [2] + Array("h2".utf8) + [5], Array(image[1000..<1032])]
                + [key.roomID.bytes, Array(key.roomID.description.utf8), Array(key.text.utf8.suffix(60)), key.seed]
                + peers.flatMap { [$0.bytes, Array($0.description.utf8), Array($0.suffix.utf8)] }
            for secret in secrets {
                #expect(frames.range(of: Data(secret)) == nil, "\(String(decoding: secret, as: UTF8.self))")
            }
        }
    }
}
