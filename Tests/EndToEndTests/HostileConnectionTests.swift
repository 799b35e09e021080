import Addressing
import ChatModel
import Control
import Foundation
import Glibc
import HostilePeer
import Identity
import Testing

/// Who comes to a chatd's port to do harm, and who stands between two of them.
@Suite(.fewAtOnce) struct HostileConnectionTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func evil(_ arguments: String...) async throws -> Outcome {
        try await run(["\(Programs.built.directory)/chat-evil"] + arguments, within: .seconds(120))
    }

    @Test func `chat-evil finds chatd to do as promised with each of its attacks, and nothing stays behind`()
        async throws
    {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        try await alice.isLinked(with: "friend")
        let before = alice.descriptors

        let outcome = try await evil("all", "\(alice.place)")

        #expect(outcome.exit == .status(0), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.lines.count == Attack.allCases.count)
        #expect(await eventually { alice.descriptors <= before })
        #expect(!friend.isOver && alice.daemon.process.exit == nil, "\(alice.daemon.log)")
    }

    @Test func `a member's flood of frames costs a bounded amount of memory, and others are heard`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let before = alice.memory
        async let flood = evil("--rate", "8", "--connections", "4", "--for", "4", "flood", "\(alice.place)")

        for word in 1...20 {
            #expect(try await alice.client.run("send", "word \(word)").exit == .status(0))
            #expect(await eventually { friend.texts.last == "word \(word)" })
        }
        _ = try await flood

        #expect(alice.memory - before < 24 << 10)
        #expect(!friend.isOver)
    }

    @Test func `a man in the middle of an open room whose names are pinned is told as another bob`() async throws {
        let (here, there) = (Place.new(), Place.new())
        var alice = try LocalPeer("alice", in: scratch, at: here, dialling: [there])
        let bob = try LocalPeer("bob", in: scratch, at: there)
        try await alice.isLinked(with: "bob")
        let genuine = try #require(try await alice.peers().first)
        #expect(try await alice.daemon.terminate() == .status(0))

        let identity = SigningKey()
        let middle = try Middleman(
            before: there.endpoint, room: RoomKey(openRoom: RoomID(openRoom: "lab")), as: identity)
        let trap = Place(address: "127.0.0.1", port: middle.endpoint.port)
        alice = try LocalPeer("alice", in: scratch, at: here, dialling: [trap])
        try await alice.isUp()

        let impostor = try await first("the man in the middle among alice's peers") {
            try await alice.peers().first { $0.peer == "\(identity.peer)" && $0.warning != nil }
        }
        #expect(impostor.name == "bob" && impostor.peer != genuine.peer)
        try await alice.daemon.log("a conflict") { $0.contains("bob") && $0.contains(impostor.suffix) }
        #expect(try await alice.client.run("peers").output.contains(try #require(impostor.warning)))
        #expect(try await alice.peers().contains { $0.peer == genuine.peer && $0.warning == nil })
        withExtendedLifetime((bob, middle)) {}
    }

    /// Case B33, 'same endpoint, other id'.
    @Test func `who answers under another key where a peer was is another peer`() async throws {
        let place = Place.new()
        let alice = try await LocalPeer.start("alice", in: scratch, dialling: [place])
        let bob = try await LocalPeer.start("bob", in: scratch, at: place)
        try await alice.isLinked(with: "bob")
        let genuine = try #require(try await alice.peers().first)
        try await bob.daemon.kill()
        try FileManager.default.removeItem(atPath: bob.daemon.state)

        let other = try await LocalPeer.start("bob", in: scratch, at: place)

        let impostor = try await first("the other bob") {
            try await alice.peers().first { $0.peer != genuine.peer && $0.state == .connected }
        }
        #expect(impostor.warning != nil)
        #expect(
            try await eventually { try await alice.peers().first { $0.peer == genuine.peer }?.state != .connected })
        #expect(try await other.client.run("send", "hello").exit == .status(0))
        #expect(await eventually { (try? await alice.texts()) == ["hello"] })
    }

    /// Case B58: as many silent connections as anybody likes, and one byte every now and then.
    @Test func `500 silent connections are 64 at most, end after 5 s, and a peer gets in`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let before = (descriptors: alice.descriptors, memory: alice.memory)
        let begin = ContinuousClock.now
        let silent = (1...500).compactMap { _ in try? WirePeer.dial(alice.place.endpoint, patience: 20) }
        let held = silent.filter(\.isOpen)

        #expect(alice.descriptors - before.descriptors <= 64)
        for (index, peer) in held.enumerated() where index.isMultiple(of: 2) { try? peer.writeRaw([22]) }
        #expect(await eventually(within: .seconds(20)) { held.allSatisfy { !$0.isOpen } })
        #expect(ContinuousClock.now - begin > .seconds(3))
        #expect(alice.descriptors - before.descriptors <= 2)
        #expect(alice.memory - before.memory < 4 << 10)
        _ = try FakePeer.join("late", dialling: alice.place)
        try await alice.isLinked(with: "late")
    }

    @Test func `a room's key is in no argument, environment or log`() async throws {
        let key = ChatKey(newRoom: "lab", owner: SigningKey().peer)
        let file = try scratch.file("lab.key", Array(key.text.utf8))
        chmod(file, 0o600)
        let alice = try await LocalPeer.start("alice", in: scratch, "--key-file", file)
        _ = try await alice.client.run("send", "a word")
        _ = try? WirePeer.open(alice.place, as: SigningKey(), in: RoomKey(openRoom: RoomID(openRoom: "lab")))
        try await alice.daemon.log("a stranger") { $0.contains("no proof that it is in this room") }

        let process = "/proc/\(alice.daemon.process.pid)"
        let shown = try ["cmdline", "environ"].map { try Data(contentsOf: URL(fileURLWithPath: "\(process)/\($0)")) }
        let texts = shown + [Data(alice.daemon.log.joined(separator: "\n").utf8)]
        let seed = try Data(contentsOf: URL(fileURLWithPath: "\(alice.daemon.state)/identity"))
        let secrets = [
            Data(key.text.dropFirst("chat-key:".count).utf8), Data(key.text.suffix(60).utf8), seed,
            Data(seed.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().utf8),
        ]
        for text in texts { for secret in secrets { #expect(text.range(of: secret) == nil) } }
        #expect(shown[0].range(of: Data("--key-file".utf8)) != nil)
    }

    @Test(.rootOnly) func `another user can read no file of chatd's and none that it received`() async throws {
        let scratch = try Scratch(isOpenToAll: true)
        let alice = try await LocalPeer.start("alice", in: scratch)
        let blob = FakeBlob(picture(100))
        let peer = try FakePeer.join(dialling: alice.place, serve: blob.answer)
        try peer.announce("x.png", blob.size, blob.root)
        #expect(await eventually { peer.progress(of: blob.root).contains(.verified(100)) })
        let roots = [alice.daemon.state, scratch("alice-downloads")]
        let paths = try roots.flatMap { root in
            try [root] + FileManager.default.subpathsOfDirectory(atPath: root).map { "\(root)/\($0)" }
        }
        #expect(paths.contains { $0.hasSuffix("/x.png") } && paths.contains { $0.hasSuffix("/identity") })

        let reading =
            "for path; do if cat \"$path\" 2>&- | grep -q . || ls \"$path/\" 2>&-; then echo \"$path\"; fi; done"
        let outcome = try await run(
            ["bash", "-c", reading, "bash"] + paths, on: .unprivileged(.here, Programs.built))
        #expect(outcome.output == "")
    }
}

extension LabTests {
    /// Floods from another host, from one address and from many; Benchmarks/floods measures what they cost.
    @Suite(.sharedLab(3, avahi: .none)) struct Floods {
        private let scratch = try? Scratch()

        @Test(arguments: zip([Attack.garbage, .silent, .leave], [true, true, false]))
        func `a flood ends no link, leaves nothing behind, and a peer that was met comes back through it`(
            attack: Attack, isFromMany: Bool
        ) async throws {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            let members = (1...2).map { index in
                Member(
                    ["alice", "bob"][index - 1], in: "flood", on: lab[index], keeping: scratch,
                    directory: "\(attack.rawValue)-\(index)",
                    ["--discovery", "none", "--listen", "[::]:7311", "--peer", "10.77.0.\(3 - index):7311"])
            }
            for member in members { try member.start() }
            try await awaitMeeting(members)
            let route = try await run(
                ["ip", "route", "replace", "local", "10.77.64.0/18", "dev", "lo"], on: lab[3])
            #expect(route.exit == .status(0), "\(route.errors)")
            let before = try descriptors(of: members[0])

            let flood = try Subprocess(
                [
                    "\(Programs.built.directory)/chat-evil", "--rate", "300", "--for", "4", "--connections",
                    attack == .silent ? "200" : "16",
                ] + (isFromMany ? ["--from", "10.77.64.1+100"] : []) + [attack.rawValue, "10.77.0.1:7311"], on: lab[3])
            for word in 1...10 { try await members[0].send("word \(word)") }
            try await members[1].leave()
            try members[1].start()
            #expect(
                try await eventually(within: .seconds(20)) { try members[0].arrivals(of: "bob") == 2 })
            let exit = try await flood.exit(within: .seconds(60))
            #expect(exit == .status(0), "\(flood.errors.text)")

            try await members[1].awaitTexts((1...10).map { "word \($0)" })
            #expect(try members[0].departures(of: "bob") == 1)
            #expect(
                try await eventually(within: .seconds(20)) { try descriptors(of: members[0]) <= before + 1 })
            try await leave(members)
        }

        private func descriptors(of member: Member) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(member.daemon.process.pid)/fd").count
        }

        /// Case B24; NAMES_SECONDS says for how long they are left alone, 300 in the full form.
        @Test func `three of one name are told apart, hear each other once, and keep their names`() async throws {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            let members = (1...3).map { host in
                Member(
                    "alice", in: "names", on: lab[host], keeping: scratch, directory: "alice-\(host)",
                    ["--discovery", "embedded"])
            }
            for member in members { try member.start() }
            #expect(
                try await eventually(within: .seconds(20)) {
                    try members.allSatisfy { try $0.arrivals(of: "alice") == 2 }
                })
            for (index, member) in members.enumerated() { try await member.send("line \(index)") }
            for member in members { try await member.awaitTexts(["line 0", "line 1", "line 2"]) }

            for _ in 1...2 {
                try await lab.unplug(2)
                try await Task.sleep(for: .seconds(1))
                try await lab.heal()
            }
            let seconds = setting("NAMES_SECONDS") ?? 5
            try await Task.sleep(for: .seconds(seconds))

            for member in members {
                let lines = try await member.lines().filter { $0.kind == .text }
                #expect(lines.count == 3 && Set(lines.map(\.author)).count == 3)
                let isComplete = try await eventually(within: .seconds(20)) {
                    let peers = try await member.peers()
                    return peers.count == 2 && peers.allSatisfy { $0.name == "alice" && $0.state == .connected }
                }
                #expect(isComplete)
                #expect(Set(try await member.peers().map(\.suffix)).count == 2)
                #expect(try member.departures(of: "alice") == 0)
            }
            try await leave(members)
        }
    }
}
