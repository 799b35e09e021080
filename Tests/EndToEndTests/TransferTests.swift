import ChatModel
import Control
import Foundation
import Glibc
import Identity
import Locking
import Testing

/// Transfers that don't go as they should, with a peer that is told what to do wrong.
@Suite(.fewAtOnce) struct TransferTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `the sender is done when the receiver says so, and not before`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let peer = try FakePeer.join(dialling: alice.place)
        try await alice.isLinked(with: "mallory")
        let bytes = picture(5 << 20)
        let blob = FakeBlob(bytes)
        let sending = try alice.client.start("send-image", try scratch.file("large.png", bytes))
        let watching = try await Following(alice, "large.png")

        try peer.say(.blobState(BlobState(root: blob.root, progress: .verified(2 << 20))))
        try await watching.reaches(2 << 20, of: 5 << 20)
        #expect(sending.exit == nil)
        try peer.say(.blobState(BlobState(root: blob.root, progress: .verified(blob.size - 1))))
        try await watching.reaches(Int(blob.size) - 1, of: 5 << 20)
        #expect(sending.exit == nil)
        try peer.say(.blobState(BlobState(root: blob.root, progress: .verified(blob.size))))

        #expect(try await sending.exit(within: .seconds(20)) == .status(0))
        #expect(sending.output.text == "large.png: mallory has it\n")
    }

    @Test func `an image that its sender cancels is told as such, and nothing of it stays`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let receiver = bob.daemon
        let hasBegun = Locked(false)
        let watch = try Watch(receiver.state) { notification in
            guard case .transfer(let view) = notification, view.completed > 0 else { return }
            if hasBegun.withLock({ $0 }) { return }
            receiver.stop()
            hasBegun.withLock { $0 = true }
        }
        defer { withExtendedLifetime(watch) {} }
        let sending = try alice.client.start("send-image", try scratch.file("large.png", picture(24 << 20)))
        try #require(await eventually { hasBegun.withLock { $0 } })
        let locator = DaemonLocator(stateDirectory: alice.daemon.state, room: nil, environment: [:])
        let client = try ControlClient.connect(to: locator, waiting: {}, events: { _ in })
        defer { client.close() }
        let row = try await alice.rows().first { $0.image?.name == "large.png" }

        _ = try client.call(
            .cancelTransfer, TransferParameters(transfer: try #require(row?.transfer)), within: 10_000)
        receiver.proceed()

        let image = try await bob.image("large.png") { $0.state == .failed }
        #expect(image.reason == "cancelled by the sender")
        #expect(try await sending.exit(within: .seconds(20)) == .status(75))
        #expect(
            try await eventually {
                try FileManager.default.contentsOfDirectory(atPath: "\(receiver.state)/blobs").isEmpty
            })
    }

    @Test func `a receiver that dies before the end has failed, and the sender says so`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let peer = try FakePeer.join(dialling: alice.place)
        try await alice.isLinked(with: "mallory")
        let bytes = picture(5 << 20)
        let sending = try alice.client.start("send-image", try scratch.file("large.png", bytes))
        let watching = try await Following(alice, "large.png")
        try peer.say(.blobState(BlobState(root: FakeBlob(bytes).root, progress: .verified(UInt64(bytes.count) - 1))))
        try await watching.reaches(bytes.count - 1, of: bytes.count)

        peer.end()

        #expect(try await sending.exit(within: .seconds(20)) == .status(75))
        #expect(sending.errors.text == "mallory: no longer connected\n")
        #expect(try await alice.image("large.png") { $0.state == .failed }.reason == "mallory: no longer connected")
    }

    @Test func `a sender that dies leaves nothing under the name, and the image arrives whole when it is back`()
        async throws
    {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let blob = FakeBlob(picture(6 << 20))
        let key = SigningKey()
        let served = Locked(0)
        let peer = try FakePeer.join(dialling: alice.place, as: key) { want in
            if case .chunk = want.part {
                guard
                    served.withLock({ served in
                        served += 1
                        return served <= 2
                    })
                else { return [] }
            }
            return blob.answer(want)
        }
        try peer.announce("large.png", blob.size, blob.root)
        #expect(
            await eventually {
                peer.progress(of: blob.root).contains { $0 == .verified(2 << 20) }
            })

        peer.end()

        _ = try await alice.image("large.png") { $0.state == .waiting }
        #expect(!FileManager.default.fileExists(atPath: scratch("alice-downloads/large.png")))
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: scratch("alice-downloads"))) ?? []).isEmpty)
        let wanted = Locked<[UInt32]>([])
        let back = try FakePeer.join(dialling: alice.place, as: key) { want in
            if case .chunk(let index) = want.part { wanted.withLock { $0.append(index) } }
            return blob.answer(want)
        }
        let path = try await alice.image("large.png") { $0.state == .received }.path
        #expect(path == scratch("alice-downloads/large.png"))
        #expect(FileManager.default.contents(atPath: scratch("alice-downloads/large.png")) == Data(blob.bytes))
        #expect(wanted.withLock { $0 }.count == 4)
        withExtendedLifetime(back) {}
    }

    @Test func `a receiver that is killed goes on where it was`() async throws {
        let place = Place.new()
        let alice = try await LocalPeer.start("alice", in: scratch, at: place)
        let blob = FakeBlob(picture(4 << 20))
        let key = SigningKey()
        let peer = try FakePeer.join(dialling: place, as: key) { want in
            if case .chunk(let index) = want.part, index > 1 { return [] }
            return blob.answer(want)
        }
        try peer.announce("large.png", blob.size, blob.root)
        #expect(await eventually { peer.progress(of: blob.root).contains { $0 == .verified(2 << 20) } })

        try await alice.daemon.kill()
        let again = try await LocalPeer.start("alice", in: scratch, at: place)
        _ = try await again.image("large.png") { [.waiting, .receiving].contains($0.state) }
        let wanted = Locked<[UInt32]>([])
        let back = try FakePeer.join(dialling: place, as: key) { want in
            if case .chunk(let index) = want.part { wanted.withLock { $0.append(index) } }
            return blob.answer(want)
        }

        _ = try await again.image("large.png") { $0.state == .received }
        #expect(FileManager.default.contents(atPath: scratch("alice-downloads/large.png")) == Data(blob.bytes))
        #expect(wanted.withLock { Set($0) } == [2, 3])
        withExtendedLifetime(back) {}
    }

    @Test func `an image that is announced again with no bytes, or comes with too many, is an error row`() async throws
    {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let blob = FakeBlob(picture(42))
        let short = FakeBlob(picture(10))
        let peer = try FakePeer.join(dialling: alice.place) { want in
            guard case .chunk = want.part else { return blob.answer(want) + short.answer(want).filter(\.isHashes) }
            if want.root == blob.root {
                return [.blobData(BlobData(root: want.root, chunk: 0, offset: 0, bytes: Array(blob.bytes.prefix(16))))]
            }
            return [.blobData(BlobData(root: want.root, chunk: 0, offset: 0, bytes: picture(15)))]
        }
        try peer.announce("first.png", 42, blob.root)
        #expect(
            await eventually {
                peer.messages.contains {
                    if case .blobWant(let want) = $0, case .chunk = want.part { true } else { false }
                }
            })
        try peer.announce("again.png", 0, blob.root)
        try peer.announce("short.png", 10, short.root)

        let again = try await alice.image("again.png") { $0.state == .failed }
        #expect(again.reason?.isEmpty == false)
        _ = try await alice.image("short.png") { [.failed, .waiting].contains($0.state) }
        peer.end()
        _ = try await alice.image("first.png") { [.failed, .waiting].contains($0.state) }
        #expect(alice.daemon.process.exit == nil)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: scratch("alice-downloads"))) ?? []).isEmpty)
    }

    @Test func `a size that isn't the image's harms no other announcement of it`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let blob = FakeBlob(picture(3_000_000))
        let liar = try FakePeer.join("liar", dialling: alice.place)
        for (index, size) in [0, 1, 42, 5 << 20, blob.size - 1].enumerated() {
            try liar.announce("lie\(index).png", size, blob.root)
        }
        _ = try await alice.image("lie4.png") { _ in true }

        let honest = try FakePeer.join("honest", dialling: alice.place, serve: blob.answer)
        try honest.announce("true.png", blob.size, blob.root)

        #expect(try await alice.image("true.png") { $0.state == .received }.path == scratch("alice-downloads/true.png"))
        #expect(FileManager.default.contents(atPath: scratch("alice-downloads/true.png")) == Data(blob.bytes))
        for index in 0..<5 { _ = try await alice.image("lie\(index).png") { $0.state == .failed } }
        try liar.announce("late.png", 7, blob.root)
        _ = try await alice.image("late.png") { $0.state == .failed }
        #expect(alice.daemon.process.exit == nil)
    }

    @Test func `no name that a peer gives leaves the downloads`() async throws {
        let home = try scratch.directory("home")
        let alice = try LocalPeer(
            "alice", in: scratch, ["--downloads", "\(home)/Downloads/chat/lab"])
        try await alice.isUp()
        let blob = FakeBlob(picture(500))
        let peer = try FakePeer.join(dialling: alice.place, serve: blob.answer)
        let before = try listing(but: "home/Downloads/chat/lab")
        let refused = [
            "../../.ssh/authorized_keys", "/etc/passwd", "a/b.png", "..", ".", "", "...", "x\u{0}.png", "./ok.png",
            "ok.png/", "~/x.png/..",
        ]
        let taken = [
            (".bashrc", "bashrc"), ("a\\b.png", "a_b.png"), ("ok.png", "ok.png"), ("..\\..\\x", "_.._x"),
            ("\u{1b}[2J.png", "_[2J.png"), ("gpj\u{202e}.exe", "gpj_.exe"), ("-rf", "-rf"),
            (String(repeating: "n", count: 251) + ".png", String(repeating: "n", count: 251) + ".png"),
            (".image.part", "image.part"),
        ]
        let root = blob.root
        for name in refused { try peer.announce(name, blob.size, root) }
        for (name, _) in taken { try peer.announce(name, blob.size, root) }

        for (name, file) in taken {
            let image = try await alice.image(name) { $0.state == .received }
            #expect(image.path == "\(home)/Downloads/chat/lab/\(file)")
            #expect(FileManager.default.contents(atPath: "\(home)/Downloads/chat/lab/\(file)") == Data(blob.bytes))
        }
        for name in refused {
            let image = try await alice.image(name) { $0.state == .refused }
            #expect(image.reason == "its name is not a file's name")
        }
        #expect(try listing(but: "home/Downloads/chat/lab") == before)
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: "\(home)/Downloads/chat/lab"))
                == Set(taken.map(\.1)))
        #expect(alice.daemon.process.exit == nil)
    }

    /// All files in the scratch directory but the daemon's own and those in one more, with what is in them.
    private func listing(but directory: String) throws -> [String: Data] {
        let all = try FileManager.default.subpathsOfDirectory(atPath: scratch.path)
        let own = ["alice-state", directory]
        return Dictionary(
            uniqueKeysWithValues: all.filter { path in !own.contains { path.hasPrefix($0) || $0.hasPrefix(path) } }.map
            {
                ($0, FileManager.default.contents(atPath: scratch($0)) ?? Data())
            })
    }
}

extension SessionMessage {
    fileprivate var isHashes: Bool { if case .blobHashes = self { true } else { false } }
}

/// A transfer's steps as a client is told of them.
private struct Following {
    private let socket: RawSocket

    init(_ member: LocalPeer, _ name: String) async throws {
        let line = try await first("the transfer") { try await member.rows().first { $0.image?.name == name } }
        socket = try RawSocket(path: "\(member.daemon.state)/chatd.sock")
        let id = try #require(line.transfer)
        let request = #"{"jsonrpc":"2.0","id":1,"method":"followTransfer","params":{"transfer":"\#(id)"}}"#
        try socket.write(Array("\(request)\n".utf8))
        _ = try socket.readLine()
    }

    func reaches(_ count: Int, of total: Int) async throws {
        struct Step: Decodable {
            struct Parameters: Decodable { var transfer: TransferView }
            var params: Parameters
        }
        while true {
            let step = try JSONDecoder().decode(Step.self, from: Data(try socket.readLine().utf8)).params.transfer
            #expect(step.total == total)
            #expect(step.completed <= count)
            #expect(step.state == .running)
            if step.completed == count { return }
        }
    }
}
