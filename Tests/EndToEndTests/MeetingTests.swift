import ChatModel
import Control
import Foundation
import Glibc
import Identity
import Testing

/// Who meets whom, and under which name.
@Suite(.fewAtOnce) struct MeetingTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Both ends of each established connection that has one end at one of the places, from /proc/net/tcp.
    private func connections(of places: [Place]) throws -> [Set<String>] {
        let wanted = Set(
            places.map { place in
                let bytes = place.address.split(separator: ".").compactMap { UInt8($0) }
                func hex(_ number: some FixedWidthInteger, _ digits: Int) -> String {
                    let text = String(number, radix: 16, uppercase: true)
                    return String(repeating: "0", count: digits - text.count) + text
                }
                return bytes.reversed().map { hex($0, 2) }.joined() + ":" + hex(place.port, 4)
            })
        // To be read to its end: a read gives a page at most.
        let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp")).readToEnd() ?? Data()
        return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst().compactMap {
            let fields = $0.split(separator: " ").map(String.init)
            guard fields.count > 3, fields[3] == "01", !wanted.isDisjoint(with: [fields[1], fields[2]]) else {
                return nil
            }
            return [fields[1], fields[2]]
        }
    }

    @Test(arguments: 1...8)
    func `two that start in one instant and dial each other have one link, and each line once`(run: Int) async throws {
        let (here, there) = (Place.new(), Place.new())
        let alice = try LocalPeer("alice", in: scratch, at: here, dialling: [there])
        let bob = try LocalPeer("bob", in: scratch, at: there, dialling: [here])
        for member in [alice, bob] { try await member.isUp() }
        try await alice.isLinked(with: "bob")
        try await bob.isLinked(with: "alice")

        #expect(try await alice.client.run("send", "from alice").exit == .status(0))
        #expect(try await bob.client.run("send", "from bob").exit == .status(0))

        for member in [alice, bob] {
            #expect(await eventually { (try? await member.texts().sorted()) == ["from alice", "from bob"] })
        }
        // One connection, seen from both ends.
        #expect(
            try await eventually {
                let ends = try connections(of: [here, there])
                return ends.count == 2 && Set(ends).count == 1
            })
        for member in [alice, bob] {
            #expect(try await member.texts().count == 2)
            #expect(try await member.rows().filter { $0.kind == .notice }.count == 1)
            #expect(member.daemon.log.count { $0.contains("is Connected") } == 1)
            #expect(!member.daemon.log.contains { $0.contains("Not Connected") })
        }
    }

    @Test func `who dials itself finds nobody and says nothing of it`() async throws {
        let place = Place.new()
        let alice = try await LocalPeer.start("alice", in: scratch, at: place, dialling: [place])
        let lines = alice.daemon.log.count
        #expect(try await alice.client.run("send", "hi").errors == "stored; nobody else is in lab yet\n")

        let other = try FakePeer.join("other", dialling: place)
        try await alice.isLinked(with: "other")

        #expect(try await alice.peers().map(\.name) == ["other"])
        #expect(try await alice.rows().count { $0.kind == .notice } == 1)
        #expect(alice.daemon.log.count <= lines + 2)
        withExtendedLifetime(other) {}
    }

    @Test func `a peer whose host isn't known is told once, and keeps nobody else waiting`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let bob = try LocalPeer(
            "bob", in: scratch, dialling: [alice.place], ["--peer", "nowhere.invalid:7311", "--peer", "also.invalid:1"])
        try await bob.isLinked(with: "alice")
        let begin = ContinuousClock.now
        try await bob.daemon.log("the unknown host") { $0.contains("nowhere.invalid") }
        // Tried again at once after 100, 200, 400 ms: told again it would have been by now.
        while ContinuousClock.now - begin < .seconds(2) {
            #expect(try await bob.client.run("send", "hi").exit == .status(0))
        }

        #expect(bob.daemon.log.count { $0.contains("nowhere.invalid") } == 1)
        #expect(bob.daemon.log.count { $0.contains("also.invalid") } == 1)
    }

    @Test func `alone means no peer, and nobody is dialled`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)

        let peers = try await alice.client.run("peers")
        #expect(peers.exit == .status(0))
        #expect(peers.output == "")
        #expect(peers.errors == "nobody else is in lab yet\n")
        #expect(try connections(of: [alice.place]).isEmpty)
    }

    @Test func `two on one host list each other and nobody else, also under one name`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let twin = try LocalPeer(
            "twin", in: scratch, dialling: [alice.place], ["--name", "alice"])
        try await twin.isUp()
        try await alice.isLinked(with: "alice")
        try await twin.isLinked(with: "alice")
        #expect(try await twin.client.run("send", "hi").exit == .status(0))

        let (one, other) = (try await alice.peers(), try await twin.peers())
        #expect(one.count == 1 && other.count == 1)
        #expect(one.first?.peer != other.first?.peer)
        #expect(await eventually { (try? await alice.texts()) == ["hi"] })
        let suffix = try #require(one.first?.suffix)
        #expect(try await alice.client.run("log").output.contains("alice (\(suffix)): hi\n"))
    }

    @Test func `who comes back under another name is the same peer under that name`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place])
        try await alice.isLinked(with: "bob")
        let before = try await alice.peers()
        try await bob.daemon.kill()

        let place = Place.new()
        let robert = try LocalPeer("bob", in: scratch, at: place, dialling: [alice.place], ["--name", "robert"])
        try await robert.isUp()
        try await robert.isLinked(with: "alice")

        #expect(
            await eventually(within: promised(.seconds(10))) {
                (try? await alice.peers().map(\.name)) == ["robert"]
            })
        #expect(try await alice.peers().map(\.peer) == before.map(\.peer))
        #expect(try await robert.client.run("send", "hi").exit == .status(0))
        #expect(await eventually { (try? await alice.rows().last?.name) == "robert" })
    }

    @Test(
        arguments: [
            String(repeating: "a", count: 63), String(repeating: "漢", count: 21), String(repeating: "👨‍👩‍👧‍👦", count: 2), "é",
        ])
    func `a name of up to 63 bytes is the same on both sides`(name: String) async throws {
        let alice = try LocalPeer("alice", in: scratch, ["--name", name])
        try await alice.isUp()
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place])
        #expect(try await alice.client.run("send", "hi").exit == .status(0))

        #expect(await eventually { (try? await bob.rows().first { $0.text == "hi" }?.name) == name })
        #expect(try await bob.peers().map(\.name) == [name])
        #expect(alice.daemon.log.contains { $0.contains("'\(name)' (") })
    }

    @Test func `a room of 15 characters works, in any case of letters`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch, room: "Fifteen-Letters")
        let bob = try await LocalPeer.start("bob", in: scratch, room: "fifteen-letters", dialling: [alice.place])
        try await bob.isLinked(with: "alice")
        #expect(try await alice.client.run("--room", "FIFTEEN-LETTERS", "send", "hi").exit == .status(0))
        #expect(await eventually { (try? await bob.texts()) == ["hi"] })
    }

    @Test func `a copied identity is told to both users, and the first one stays`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place])
        try await alice.isLinked(with: "bob")
        let copy = try scratch.directory("copy-state")
        chmod(copy, 0o700)
        try FileManager.default.copyItem(atPath: "\(bob.daemon.state)/identity", toPath: "\(copy)/identity")

        let clone = try LocalPeer("copy", in: scratch, dialling: [alice.place], ["--name", "bob"])
        try await clone.isUp()

        try await alice.daemon.log("that bob runs twice") {
            $0.contains("'bob' runs twice with one identity; only the first is linked")
        }
        try await clone.daemon.log("that it is a copy") { $0.contains("another chatd runs with a copy") }
        #expect(try await bob.client.run("send", "the first").exit == .status(0))
        #expect(await eventually { (try? await alice.texts()) == ["the first"] })
    }
}
