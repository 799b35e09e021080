import ChatModel
import Control
import Foundation
import Glibc
import Identity
import Testing

/// What is given as an image: only what can be one is offered to anybody.
@Suite(.fewAtOnce) struct ImageInputTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch(isOpenToAll: true) }

    @Test func `what is no readable file is status 66 at once, and nobody is offered anything`() async throws {
        let host = Host.unprivileged(.here, try await Programs.built.copied(into: scratch))
        let alice = try await LocalPeer.start("alice", in: scratch, on: host)
        let unreadable = try scratch.file("unreadable.png", picture(100))
        let locked = try scratch.directory("locked")
        let behind = try scratch.file("locked/behind.png", picture(100))
        chmod(unreadable, 0)
        chmod(locked, 0)
        defer { chmod(locked, 0o700) }
        mkfifo(scratch("fifo"), 0o666)
        symlink("nowhere", scratch("dangling.png"))
        symlink("loop.png", scratch("loop.png"))
        let cases = [
            (scratch("missing.png"), "\(scratch("missing.png")): No such file or directory"),
            ("", ": No such file or directory"), (".", ". is a directory, not a file"),
            ("/", "/ is a directory, not a file"), ("/dev/zero", "/dev/zero is a device, not a file"),
            (scratch("fifo"), "\(scratch("fifo")) is a FIFO, not a file"),
            ("\(alice.daemon.state)/chatd.sock", "\(alice.daemon.state)/chatd.sock is a socket, not a file"),
            (unreadable, "\(unreadable): Permission denied"), (behind, "\(behind): Permission denied"),
            (scratch("dangling.png"), "\(scratch("dangling.png")): No such file or directory"),
            (scratch("loop.png"), "\(scratch("loop.png")): Too many levels of symbolic links"),
            ("\(unreadable)/", "\(unreadable)/: Not a directory"),
            ("/proc/self/mem\u{1b}[2J", "/proc/self/mem\\x1b[2J: No such file or directory"),
        ]
        for (path, reason) in cases {
            let outcome = try await alice.client.run("send-image", path)
            #expect(outcome.exit == .status(66), "\(path)")
            let shown = path.isEmpty ? "chat: ''\(reason)\n" : "chat: \(reason)\n"
            #expect(outcome.errors == shown)
            #expect(outcome.duration < promised(.seconds(1)))
        }
        let good = try scratch.file("good.png", picture(100))
        let both = try await alice.client.run("send-image", good, scratch("missing.png"))
        #expect(both.exit == .status(66))
        #expect(try await alice.rows().isEmpty)
        #expect(try await alice.client.run("send-image", good).exit == .status(0))
        #expect(try await alice.rows().compactMap(\.image?.name) == ["good.png"])
    }

    @Test func `the client's directory counts, not the daemon's`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let bytes = picture(5_000)
        _ = try scratch.directory("elsewhere")
        _ = try scratch.file("elsewhere/relative.png", bytes)
        let script = "cd \"$1\" && exec \"$0\" --state-dir \"$2\" send-image relative.png ./relative.png"

        let outcome = try await run(
            ["bash", "-c", script, Programs.built.chat, scratch("elsewhere"), alice.daemon.state])

        #expect(outcome.exit == .status(0), "\(outcome.errors)")
        #expect(outcome.output == "relative.png: bob has it\nrelative.png: bob has it\n")
        let received = try await bob.rows().compactMap(\.image)
        #expect(received.map(\.name) == ["relative.png", "relative.png"])
        #expect(received.compactMap(\.path).count == 2)
        for path in received.compactMap(\.path) {
            #expect(FileManager.default.contents(atPath: path) == Data(bytes))
        }
        #expect(Set(received.map(\.path)).count == 2)
    }

    @Test func `an empty file arrives, and the next one behind it`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let empty = try scratch.file("empty.png", [])
        let ok = try scratch.file("ok.png", picture(70_000))

        let first = try await alice.client.run("send-image", empty)
        #expect(first.exit == .status(0), "\(first.errors)")
        #expect(first.output == "empty.png: bob has it\n")
        #expect(first.duration < promised(.seconds(2)))
        let second = try await alice.client.run("send-image", ok)
        #expect(second.output == "ok.png: bob has it\n")

        let path = try await bob.image("empty.png") { $0.state == .received }.path
        #expect(path == scratch("bob-downloads/empty.png"))
        #expect(FileManager.default.contents(atPath: scratch("bob-downloads/empty.png")) == Data())
        #expect(try await alice.image("empty.png") { $0.state == .sent }.size == 0)
        #expect(FileManager.default.contents(atPath: scratch("bob-downloads/ok.png")) == Data(picture(70_000)))
    }

    @Test func `images sent at once, and one twice, all arrive at everybody`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let carol = try await LocalPeer.start("carol", in: scratch, dialling: [alice.place, bob.place])
        try await alice.isLinked(with: "carol")
        let files = try (1...3).map { try scratch.file("\($0).png", picture(100_000 * $0, seed: UInt64($0))) }

        let sending = try (files + [files[0]]).map { try alice.client.start("send-image", $0) }

        for (index, process) in sending.enumerated() {
            #expect(try await process.exit(within: .seconds(60)) == .status(0), "\(process.errors.text)")
            #expect(process.output.lines.count == 1)
            for name in ["bob", "carol"] { #expect(process.output.text.contains(name), "\(index)") }
        }
        #expect(try await alice.rows().count { $0.kind == .image } == 4)
        for member in [bob, carol] {
            let images = try await member.rows().compactMap(\.image)
            #expect(images.map(\.name).sorted() == ["1.png", "1.png", "2.png", "3.png"])
            #expect(images.allSatisfy { $0.state == .received })
            for image in images {
                let number = try #require(Int(image.name.prefix(1)))
                let bytes = FileManager.default.contents(atPath: try #require(image.path))
                #expect(bytes == Data(picture(100_000 * number, seed: UInt64(number))))
            }
        }
    }

    @Test func `a receiver that can't keep it is named within two seconds, and others have it`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let host = Host.unprivileged(.here, try await Programs.built.copied(into: scratch))
        let denied = try scratch.directory("denied")
        chmod(denied, 0o555)
        let bob = try await LocalPeer.start(
            "bob", in: scratch, dialling: [alice.place], on: host, "--downloads", denied)
        let file = try scratch.file("picture.png", picture(3_000))
        let notFolder = try scratch.file("file", [1])
        let carol = try await LocalPeer.start(
            "carol", in: scratch, dialling: [alice.place], "--downloads", "\(notFolder)/folder")
        for name in ["bob", "carol"] { try await alice.isLinked(with: name) }

        let nobody = try await alice.client.run("send-image", file)
        #expect(nobody.exit == .status(75))
        #expect(nobody.duration < promised(.seconds(2)))
        let lines = nobody.errors.split(separator: "\n").sorted()
        #expect(lines.count == 2)
        #expect(lines == ["bob", "carol"].map { "\($0): the downloads directory can't be used" })
        try await bob.daemon.log("why") { $0.contains(denied) && $0.contains("Permission denied") }
        try await carol.daemon.log("why") { $0.contains(notFolder) && $0.contains("Not a directory") }
        #expect(try await alice.image("picture.png") { $0.state == .failed }.reason?.isEmpty == false)
        #expect(try await bob.image("picture.png") { $0.state == .failed }.path == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: denied).isEmpty)

        let dave = try await LocalPeer.start("dave", in: scratch, dialling: [alice.place])
        try await alice.isLinked(with: "dave")
        let other = try scratch.file("other.png", picture(4_000))
        let some = try await alice.client.run("send-image", other)
        #expect(some.exit == .status(75))
        #expect(some.output == "other.png: dave has it\n")
        #expect(some.errors.split(separator: "\n").count == 2)
        #expect(try await dave.image("other.png") { $0.state == .received }.path == scratch("dave-downloads/other.png"))
        #expect(try await alice.image("other.png") { $0.state == .sent }.reason == nil)
        for member in [bob, carol] { #expect(member.daemon.process.exit == nil) }
    }

    @Test func `the downloads may be a link to a directory; a link in it is not followed`() async throws {
        let secret = try scratch.file("secret", [1, 2, 3])
        let real = try scratch.directory("real")
        symlink("../secret", "\(real)/photo.png")
        symlink("real", scratch("link"))
        let alice = try await LocalPeer.start("alice", in: scratch)
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place], "--downloads", scratch("link"))
        try await alice.isLinked(with: "bob")
        let photo = try scratch.file("photo.png", picture(2_000))

        #expect(try await alice.client.run("send-image", photo).exit == .status(0))

        #expect(FileManager.default.contents(atPath: secret) == Data([1, 2, 3]))
        #expect(FileManager.default.contents(atPath: "\(real)/photo (2).png") == Data(picture(2_000)))
        #expect(try await bob.image("photo.png") { $0.state == .received }.path == scratch("link/photo (2).png"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(real)/photo.png") == "../secret")
    }

    @Test func `an image over the receiver's limit is refused by name, with both sizes`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place], "--auto-fetch", "1M")
        try await alice.isLinked(with: "bob")
        let large = try scratch.file("large.png", picture(3 << 20))
        let fitting = try scratch.file("fitting.png", picture(1 << 20))

        let refused = try await alice.client.run("send-image", large)
        #expect(refused.exit == .status(75))
        #expect(refused.errors == "bob: 3 MiB is over its limit of 1 MiB\n")
        #expect(try await alice.client.run("send-image", fitting).exit == .status(0))
        #expect(try await bob.image("large.png") { $0.state == .refused }.reason == "3 MiB is over its limit of 1 MiB")
    }

    @Test func `nobody there: the image is stored, and comes to who joins later`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let file = try scratch.file("early.png", picture(9_000))

        let outcome = try await alice.client.run("send-image", file)
        #expect(outcome.exit == .status(0))
        #expect(outcome.errors == "stored; nobody else is in lab yet\n")
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place])

        let path = try await bob.image("early.png") { $0.state == .received }.path
        #expect(FileManager.default.contents(atPath: try #require(path)) == Data(picture(9_000)))
    }
}
