import ChatModel
import Control
import Foundation
import Glibc
import HostilePeer
import Identity
import Testing

/// What comes in on the TCP port from who knows whom: only its own connection ends, and the log says why.
@Suite(.fewAtOnce) struct StrangerTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The daemon is as before: same process, and a peer that was there all along still gets what is said.
    private func isWell(_ alice: LocalPeer, _ friend: FakePeer) async throws {
        let word = "still here \(UInt32.random(in: 0...UInt32.max))"
        #expect(alice.daemon.process.exit == nil)
        #expect(try await alice.client.run("send", word).exit == .status(0))
        #expect(await eventually { friend.texts.last == word })
        #expect(!friend.isOver)
    }

    @Test func `what doesn't begin as a peer does is closed at once, without an answer, and told once a minute`()
        async throws
    {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let other = RoomKey(openRoom: RoomID(openRoom: "ops"))
        for _ in 1...5 {
            for bytes in [
                Array("GET / HTTP/1.1\r\nHost: lab\r\n\r\n".utf8), Array("SSH-2.0-OpenSSH_9.2\r\n".utf8),
                picture(100_000), [UInt8](repeating: 0, count: 83), [UInt8](repeating: 255, count: 4),
                // Records of TLS: an alert, one of an old version, a handshake that begins with its end.
                [21, 3, 3, 0, 2, 1, 0], [22, 2, 0, 0, 1, 1], [22, 3, 3, 0, 4, 20, 0, 0, 0],
            ] {
                let stranger = try RawSocket(alice.place)
                let begin = ContinuousClock.now
                try? stranger.write(bytes)
                #expect(try stranger.readToEnd() == [])
                #expect(ContinuousClock.now - begin < promised(.seconds(1)))
            }
            #expect(throws: (any Error).self) { try WirePeer.open(alice.place, as: SigningKey(), in: other) }
        }
        try await alice.daemon.log("the other room") { $0.contains("no proof that it is in this room") }
        #expect(alice.daemon.log.count { $0.contains("no proof") } == 1)
        #expect(alice.daemon.log.count < 20)
        #expect(alice.daemon.log.allSatisfy { $0.hasPrefix("chatd: ") })
        try await isWell(alice, friend)
    }

    @Test func `a peer of another room is nobody here`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch, room: "lab")
        let bob = try await LocalPeer.start("bob", in: scratch, room: "ops", dialling: [alice.place])

        try await alice.daemon.log("the other room") { $0.contains("no proof that it is in this room") }
        #expect(try await alice.client.run("send", "hi").errors == "stored; nobody else is in lab yet\n")
        #expect(try await bob.client.run("send", "hi").errors == "stored; nobody else is in ops yet\n")
        #expect(try await alice.peers().isEmpty)
        #expect(try await bob.texts() == ["hi"])
        // It goes on trying, for whoever is there may change rooms, but hardly says so.
        #expect(bob.daemon.log.count < 15)
    }

    @Test func `a header over the limit closes the link within a second and takes no memory`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let before = alice.memory
        for bytes: [UInt8] in [
            [255, 255, 255, 255, 16, 0], [255, 255, 255, 255, 20, 0], [0, 0, 0x10, 1, 16, 0], [0, 0, 0xc0, 1, 20, 0],
            [0, 0, 0x40, 1, 99, 1], [0, 0, 0, 1, 99, 0], [0, 0, 0, 1, 16, 2], [0x7f, 255, 255, 255, 1, 0],
        ] {
            let peer = try FakePeer.join("tall", dialling: alice.place)
            try peer.write(bytes)
            #expect(await eventually(within: promised(.seconds(1))) { peer.isOver }, "\(bytes)")
        }
        #expect(alice.memory - before < 4_096)
        try await isWell(alice, friend)
    }

    @Test func `a greeting that is too long, or no greeting, is no peer`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let room = RoomKey(openRoom: friend.room)
        let long = try WirePeer.open(alice.place, as: SigningKey(), in: room)
        try? long.write(FakePeer.frame(0, [1] + randomBytes(16) + [0, 0, 0, 0, 0, 0, 0, 1, 0]))
        try? long.write(FakePeer.frame(16, [UInt8](repeating: 0, count: 1 << 20)))
        _ = try long.readToEnd()

        let data = try WirePeer.open(alice.place, as: SigningKey(), in: room)
        try data.write(FakePeer.frame(20, picture(100)))
        _ = try data.readToEnd()

        let silent = try RawSocket(alice.place)
        let begin = ContinuousClock.now
        #expect(try silent.readToEnd() == [])
        #expect(ContinuousClock.now - begin < .seconds(10))
        #expect(try await alice.peers().map(\.name) == ["friend"])
        try await isWell(alice, friend)
    }

    @Test func `a peer that breaks the protocol loses its link, with one reason in the log`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let other = SigningKey()
        let cases: [(String, (FakePeer) throws -> Void)] = [
            ("kind 99", { try $0.write(99, [1, 2, 3]) }),
            ("kind 7", { try $0.write(7, []) }),
            ("a second Link", { try $0.write(0, [1] + randomBytes(16) + [0, 0, 0, 0, 0, 0, 0, 9, 0]) }),
            ("a Have of nothing", { try $0.write(17, []) }),
            ("a Have with bytes behind", { try $0.write(17, [0, 0, 0, 0]) }),
            ("a Want without end", { try $0.write(18, [UInt8](repeating: 255, count: 96)) }),
            ("a batch of noise", { try $0.write(20, picture(1_000)) }),
            (
                "a batch with a bad seal",
                { peer in
                    var bytes = peer.batch([(.text, EventBody.text("hi").encoded(authorName: "x"))]).bytes
                    bytes[bytes.count - 1] ^= 1
                    try peer.write(20, bytes)
                }
            ),
            (
                "a batch of another room",
                { peer in
                    let log = LogID(author: other.peer, incarnation: Incarnation(1))
                    let event = BatchEvent(
                        kind: .text, nonce: Nonce(1), clock: HybridTime(milliseconds: 1), wallTime: 1,
                        body: EventBody.text("hi").encoded(authorName: "x"))
                    let batch = Batch(
                        sealing: [event], in: log, of: RoomID(openRoom: "ops"), first: 1, previous: .none, with: other)
                    try peer.write(20, batch.bytes)
                }
            ),
            ("a piece of a blob on the chat link", { try $0.write(24, [UInt8](repeating: 0, count: 39)) }),
            (
                "a Hello with a bad name",
                { try $0.write(16, [0, 1, 0, 1, 0, 0, 0, 0, 1, 27, 0] + [UInt8](repeating: 0, count: 16)) }
            ),
        ]
        for (what, act) in cases {
            let peer = try FakePeer.join("rude", dialling: alice.place)
            try act(peer)
            #expect(await eventually { peer.isOver }, "\(what)")
            #expect(try await alice.texts().allSatisfy { $0.hasPrefix("still here") }, "\(what)")
        }
        #expect(alice.daemon.log.count { $0.contains("'rude' is Not Connected") } == cases.count)
        #expect(alice.daemon.log.count { $0.contains("rude (") } >= cases.count)
        try await isWell(alice, friend)
    }

    @Test func `what is odd but harmless ends nothing`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let peer = try FakePeer.join("odd", dialling: alice.place)
        try await alice.isLinked(with: "odd")

        try peer.write(FakePeer.frame(99, picture(1_000), flags: 1))
        try peer.say(.hello(Hello(displayName: "renamed", instance: "", wallTime: 0, autoFetchLimit: 0)))
        try peer.say(.answered(Want(log: LogID(author: peer.key.peer, incarnation: Incarnation(3)), numbers: 1...9)))
        try peer.say(
            .want(
                Want(log: LogID(author: peer.key.peer, incarnation: Incarnation(3)), numbers: 1...Batch.maximumNumber)))
        try peer.say(.have(Have(entries: [], isContinued: true)))
        try peer.say(
            .have(
                Have(entries: [
                    .init(
                        log: LogID(author: SigningKey().peer, incarnation: Incarnation(5)),
                        ranges: [EventRange(numbers: 1...Batch.maximumNumber, lastID: .none)])
                ])))
        try peer.write(2, randomBytes(8))
        try peer.say([(kind: EventKind(200), body: picture(50)), (kind: .text, body: [200, 1, 2])])
        try peer.say([.text("after all that")])

        #expect(await eventually { (try? await alice.texts()) == ["after all that"] })
        #expect(!peer.isOver)
        #expect(try await alice.peers().map(\.name) == ["renamed"])
        #expect(alice.daemon.log.count { $0.contains("Connected") } == 1)
    }

    @Test func `a gap in a log is asked for, told of, and filled`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let peer = try FakePeer.join("gappy", dialling: alice.place)
        let first = peer.batch([(.text, EventBody.text("one").encoded(authorName: "gappy"))])
        try peer.say([.text("two")])

        let want = try await StrangerTests.want(of: peer)
        #expect(want.log == first.log && want.numbers.contains(1))
        #expect(await eventually { (try? await alice.texts()) == ["two"] })
        let gap = try await alice.client.run("log").lines
        #expect(gap.first?.hasSuffix(" * 1 message of gappy missing here") == true, "\(gap)")
        try peer.say(.batch(first.bytes))
        try peer.say(.answered(want))

        #expect(await eventually { (try? await alice.texts()) == ["one", "two"] })
        #expect(try await !alice.client.run("log").output.contains("missing"))
        #expect(!peer.isOver)
    }

    private static func want(of peer: FakePeer) async throws -> Want {
        try await first("a Want") {
            peer.messages.compactMap { if case .want(let want) = $0 { want } else { nil } }.first
        }
    }

    @Test func `an incompatible version is told once, and nobody is seen to come and go`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        try await alice.isLinked(with: "friend")
        let key = SigningKey()
        for _ in 1...3 {
            let peer = try FakePeer("future", dialling: alice.place, as: key)
            try peer.introduce(versions: 99...120)
            #expect(await eventually { peer.isOver })
        }

        #expect(alice.daemon.log.count { $0.contains("'future' speaks an incompatible version") } == 1)
        #expect(alice.daemon.log.count { $0.contains("'future' is") } == 0)
        try await isWell(alice, friend)
    }

    @Test func `noise after a good beginning ends that link alone, whatever the noise`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let before = alice.descriptors
        for seed in 1...100 {
            let peer = try FakePeer.join("noise", dialling: alice.place)
            let noise = Array(picture(4_000, seed: UInt64(seed)).dropFirst(29))
            // Whole frames of every kind with noise in them, then noise alone.
            if seed.isMultiple(of: 2) { try? peer.write(UInt8(16 + seed / 2 % 10), Array(noise.prefix(seed))) }
            try? peer.write(noise)
            #expect(await eventually { peer.isOver }, "seed \(seed)")
        }
        #expect(await eventually(within: promised(.seconds(5))) { alice.descriptors <= before })
        try await isWell(alice, friend)
    }

    @Test func `silent connections are few, and end, and peers get in again`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let friend = try FakePeer.join("friend", dialling: alice.place)
        let before = (descriptors: alice.descriptors, memory: alice.memory)
        let silent = (1...200).compactMap { _ in try? RawSocket(alice.place) }

        #expect(alice.descriptors - before.descriptors <= 70)
        try await isWell(alice, friend)
        #expect(await eventually(within: .seconds(15)) { (try? FakePeer.join("late", dialling: alice.place)) != nil })
        #expect(await eventually { alice.descriptors - before.descriptors <= 2 })
        #expect(alice.memory - before.memory < 8_192)
        withExtendedLifetime(silent) {}
    }

    @Test func `a message is whole however the stream is cut`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let text = "héllo 🧑‍🌾 한글"
        let peer = try FakePeer.join("slow", dialling: alice.place)

        let batches = (1...3).map { index in
            peer.batch([(.text, EventBody.text("\(text) \(index)").encoded(authorName: "slow"))])
        }
        peer.holdBack()
        for byte in FakePeer.frame(20, batches[0].bytes) { try peer.write([byte]) }
        try peer.write(batches[1...].flatMap { FakePeer.frame(20, $0.bytes) })
        let header = FakePeer.frame(20, peer.batch([(.text, EventBody.text(text).encoded(authorName: "slow"))]).bytes)
        try peer.write(Array(header.prefix(1)))
        try await isSeen(["\(text) 1", "\(text) 2", "\(text) 3"], by: alice)
        try peer.write(Array(header.dropFirst(1).prefix(3)))
        try peer.write(Array(header.dropFirst(4)))
        try peer.proceed()

        try await isSeen(["\(text) 1", "\(text) 2", "\(text) 3", text], by: alice)
    }

    private func isSeen(_ texts: [String], by member: LocalPeer) async throws {
        #expect(await eventually { (try? await member.texts()) == texts })
    }

    @Test func `a peer that goes without a word is gone within two seconds, and what it said is here`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let peer = try FakePeer.join("brief", dialling: alice.place)
        try await alice.isLinked(with: "brief")
        let begin = ContinuousClock.now

        try peer.say([.text(String(repeating: "x", count: 16_000))])
        peer.end()

        try await alice.daemon.log("brief gone") { $0.contains("'brief' is Not Connected") }
        #expect(ContinuousClock.now - begin < promised(.seconds(2)))
        #expect(try await alice.texts().map(\.count) == [16_000])
    }
}
