import Control
import Glibc
import Testing

/// Several chatd on one host with no network but lo, and no right.
struct OneHostTests {
    private let scratch = try? Scratch(isOpenToAll: true)

    @Test func `two chatd of an unprivileged user talk over lo alone`() async throws {
        let scratch = try #require(scratch)
        let host = Host.unprivileged(.lonely(try await Lonely()), try await Programs.built.copied(into: scratch))
        let members = ["alice", "bob"].map { Member($0, in: "lab", on: host, keeping: scratch) }
        let image = try SampleImage.jpeg(size: 3 << 20)
        let file = try scratch.file("plan.jpg", image)
        chmod(file, 0o644)

        for member in members { try member.start() }
        try await awaitMeeting(members)
        try await members[0].send("to bob")
        try await members[1].send("to alice")
        let sent = try await members[0].client.run("send-image", file)

        #expect(sent.exit == .status(0) && sent.output == "plan.jpg: bob has it\n" && sent.errors.isEmpty)
        for member in members {
            try await member.awaitTexts(["to bob", "to alice"])
            let log = try member.daemon.log
            #expect(log.first?.hasPrefix("chatd: '\(member.name)' (") == true)
            #expect(log.first?.contains(") in room 'lab', port ") == true)
            #expect(log.dropFirst().first == "chatd: open: anybody on this network can join")
            #expect(log.contains("chatd: discovery: embedded mDNS"))
        }
        let received = try await members[1].lines().compactMap(\.image).first
        #expect(checksum(ofFile: received?.path) == checksum(ofFile: file))
        try await leave(members)
    }

    @Test func `a chatd never finds itself`() async throws {
        let scratch = try #require(scratch)
        let host = Host.lonely(try await Lonely())
        let alice = Member("alice", in: "lab", on: host, keeping: scratch)
        // They take as long to find each other as alice would to find herself.
        let others = ["bob", "carol"].map { Member($0, in: "other", on: host, keeping: scratch) }

        try alice.start()
        for other in others { try other.start() }
        try await awaitMeeting(others)

        #expect(try await alice.peers().isEmpty)
        #expect(try await alice.daemon.connections().isEmpty)
        #expect(try await others[0].peers().map(\.name) == ["carol"])
        #expect(try await others[1].peers().map(\.name) == ["bob"])
        #expect(try await alice.lines().isEmpty)
        try await leave([alice] + others)
    }

    @Test func `who comes back under another name is known by that name alone`() async throws {
        let scratch = try #require(scratch)
        let host = Host.lonely(try await Lonely())
        let alice = Member("alice", in: "lab", on: host, keeping: scratch)
        let alicia = Member("alicia", in: "lab", on: host, keeping: scratch, directory: "alice")
        let bob = Member("bob", in: "lab", on: host, keeping: scratch)
        try alice.start()
        try bob.start()
        try await awaitMeeting([alice, bob])
        try await alice.send("as alice")
        try await bob.awaitTexts(["as alice"])
        try await alice.kill()

        try alicia.start()
        try await awaitMeeting([alicia, bob])
        try await alicia.send("as alicia")

        try await bob.awaitTexts(["as alicia"])
        #expect(try await bob.peers().map(\.name) == ["alicia"])
        #expect(try await alicia.peers().map(\.name) == ["bob"])
        // What was said keeps the name under which it was.
        let lines = try await bob.lines().filter { $0.kind == .text }
        #expect(lines.map(\.name) == ["alice", "alicia"])
        #expect(Set(lines.map(\.author)).count == 1)
        try await leave([alicia, bob])
    }

    @Test(arguments: [String(repeating: "a", count: 63), String(repeating: "漢", count: 21)])
    func `a name of 63 bytes is seen as it is`(name: String) async throws {
        let scratch = try #require(scratch)
        let host = Host.lonely(try await Lonely())
        let long = Member(name, in: "fifteen-letters", on: host, keeping: scratch, directory: "long")
        let bob = Member("bob", in: "fifteen-letters", on: host, keeping: scratch)

        try long.start()
        try bob.start()
        try await awaitMeeting([long, bob])

        #expect(try await bob.peers().map(\.name) == [name])
        try await leave([long, bob])
    }

    @Test(arguments: [
        (["--name", String(repeating: "a", count: 64), "--room", "lab"], "limit is 63"),
        (["--name", String(repeating: "é", count: 32), "--room", "lab"], "limit is 63"),
        (["--name", String(repeating: "👨‍👩‍👧‍👦", count: 5), "--room", "lab"], "limit is 63"),
        (["--name", "alice", "--room", "sixteen-letters-"], "limit is 15"),
    ])
    func `a name that is too long in bytes is refused at the start, with the limit`(
        arguments: [String], limit: String
    ) async throws {
        let scratch = try #require(scratch)
        let daemon = try Daemon(arguments, state: scratch("alice"))

        #expect(try await daemon.process.exit(within: .seconds(10)) == .status(64))
        #expect(daemon.log.first?.contains(limit) == true)
        #expect(daemon.log.count <= 2 && daemon.log.allSatisfy { !$0.contains("\u{fffd}") })
    }

    @Test func `three of one name are told apart and each hears the others`() async throws {
        let scratch = try #require(scratch)
        let host = Host.lonely(try await Lonely())
        let members = (1...3).map { Member("alice", in: "lab", on: host, keeping: scratch, directory: "alice\($0)") }
        for member in members { try member.start() }
        let haveMet = try await eventually { try members.allSatisfy { try $0.arrivals(of: "alice") == 2 } }
        try #require(haveMet)

        for (index, member) in members.enumerated() { try await member.send("from \(index)") }

        for member in members {
            try await member.awaitTexts(["from 0", "from 1", "from 2"])
            let lines = try await member.lines().filter { $0.kind == .text }
            #expect(lines.count == 3 && Set(lines.map(\.author)).count == 3 && Set(lines.map(\.suffix)).count == 3)
            let peers = try await member.peers()
            #expect(peers.count == 2 && Set(peers.map(\.peer)).count == 2)
            let shown = try await member.client.run("log")
            for line in lines { #expect(shown.output.contains("alice (\(line.suffix)): ")) }
        }
        try await leave(members)
    }
}
