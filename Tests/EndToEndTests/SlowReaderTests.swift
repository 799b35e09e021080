import ChatModel
import Foundation
import HostilePeer
import Identity
import Testing

/// Peers that ask for more than they read for now: they are owed all of it, and cost little meanwhile.
@Suite(.fewAtOnce) struct SlowReaderTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Chat and blob link of a peer that reads only what it is told to.
    private struct SlowPeer {
        let key = SigningKey()
        let chat: WirePeer
        let blob: WirePeer
        private let instance = randomBytes(16)

        init(dialling place: Place) throws {
            let room = RoomKey(openRoom: RoomID(openRoom: "lab"))
            chat = try WirePeer.open(place, as: key, in: room)
            blob = try WirePeer.open(place, as: key, in: room)
            try begin()
        }

        /// A blob link may only follow a chat link.
        private func begin() throws {
            try chat.write(link(1))
            try say(
                .hello(Hello(displayName: "slow", instance: "", wallTime: 0, autoFetchLimit: 0)),
                .have(Have(entries: [])))
            try skip(to: 17, on: chat)
            try blob.write(link(2))
            try skip(to: 0, on: blob)
        }

        private func link(_ purpose: UInt8) -> [UInt8] {
            var number: [UInt8] = []
            number.append(bigEndian: UInt64(purpose))
            return FakePeer.frame(0, [purpose] + instance + number + [0])
        }

        func say(_ messages: SessionMessage...) throws {
            try chat.write(messages.flatMap { FakePeer.frame($0.encoded.kind, $0.encoded.body) })
        }

        func say(onBlobLink messages: [SessionMessage]) throws {
            try blob.write(messages.flatMap { FakePeer.frame($0.encoded.kind, $0.encoded.body) })
        }

        func skip(to kind: UInt8, on socket: WirePeer) throws { while try read(socket).kind != kind {} }

        func read(_ socket: WirePeer) throws -> (kind: UInt8, body: [UInt8]) {
            let header = try socket.read(6)
            return (header[4], try socket.read(header.prefix(4).reduce(0) { $0 << 8 | Int($1) }))
        }

        /// It answers no Ping, but it is alive.
        func ping() throws { try chat.write(FakePeer.frame(1, randomBytes(8))) }
    }

    @Test func `40 MiB of events asked for at once all come, to a peer that reads late`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let author = try FakePeer.join("author", dialling: alice.place)
        let text = String(repeating: "x", count: 16_000)
        for _ in 1...22 { try author.say([EventBody](repeating: .text(text), count: 3)) }
        let log = author.batch([(.text, EventBody.text("not sent").encoded(authorName: "author"))]).log
        #expect(await eventually(within: .seconds(30)) { (try? await alice.texts().count) == 66 })
        let before = alice.memory
        let slow = try SlowPeer(dialling: alice.place)
        let want = Want(log: log, numbers: 1...66)

        for _ in 1...40 { try slow.say(.want(want)) }
        #expect(try await alice.client.run("send", "meanwhile").exit == .status(0))
        var (bytes, answers, hasHeard) = (0, 0, false)
        while answers < 40 || !hasHeard {
            let frame = try slow.read(slow.chat)
            if frame.kind == 20 { bytes += frame.body.count }
            if frame.kind == 19 {
                answers += 1
                try slow.ping()
            }
            if frame.kind == 20, frame.body.count < 1_000 { hasHeard = true }
            if answers == 2 { #expect(alice.memory - before < 24 << 10) }
        }

        #expect(bytes > 40 * 60 * 16_000)
        #expect(!author.isOver)
        #expect(alice.daemon.log.allSatisfy { !$0.contains("doesn't read") && !$0.contains("Not Connected") })
    }

    @Test func `24 MiB of an image asked for at once all come, to a peer that reads late`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let image = try SampleImage.jpeg(size: 24 << 20)
        let sent = try await alice.client.run("send-image", try scratch.file("big.jpg", image))
        #expect(sent.exit == .status(0), "\(sent.errors)")
        let slow = try SlowPeer(dialling: alice.place)
        let before = alice.memory
        let root = FakeBlob(image).root

        try slow.say(
            onBlobLink: (0..<24).map { .blobWant(BlobWant(root: root, part: .chunk(UInt32($0)))) })
        try slow.ping()
        try slow.skip(to: 2, on: slow.chat)
        #expect(alice.memory - before < 24 << 10)
        var bytes = 0
        while bytes < image.count {
            let (kind, body) = try slow.read(slow.blob)
            #expect(kind == 24)
            bytes += body.count - 40
            if bytes.isMultiple(of: 1 << 20) { try slow.ping() }
        }

        #expect(bytes == image.count)
        #expect(alice.daemon.log.allSatisfy { !$0.contains("doesn't read") })
    }
}
