import ChatModel
import Control
import Foundation
import Glibc
import Testing

/// State directories and sockets: whose they are, what is in them, and who was there first.
@Suite(.fewAtOnce) struct StateTests {
    private let scratch: Scratch
    private let programs = Programs.built

    init() throws { scratch = try Scratch(isOpenToAll: true) }

    private func chatd(_ state: String, on host: Host = .here, _ more: String...) async throws -> Outcome {
        try await run(
            [host.programs.chatd, "--state-dir", state, "--room", "lab", "--name", "alice"]
                + LocalPeer.options(.new()) + more, on: host)
    }

    private func inode(_ path: String) -> ino_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : nil
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test func `a second daemon on one state is status 75, whether the first runs or stands still`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let socket = "\(alice.daemon.state)/chatd.sock"
        let before = inode(socket)
        let message = "chatd: already running (process \(alice.daemon.process.pid)) in \(alice.daemon.state)\n"

        let second = try await chatd(alice.daemon.state)
        #expect(second.exit == .status(75))
        #expect(second.errors == message)
        alice.daemon.stop()
        let third = try await chatd(alice.daemon.state)
        #expect(third.exit == .status(75))
        #expect(third.errors == message)
        alice.daemon.proceed()

        #expect(before != nil && inode(socket) == before)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        #expect(try await alice.daemon.terminate() == .status(0))
        #expect(inode(socket) == nil)
    }

    @Test func `after a crash the next start is as any other`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "before").exit == .status(0))
        try await alice.daemon.kill()
        #expect(inode("\(alice.daemon.state)/chatd.sock") != nil)

        let begin = ContinuousClock.now
        let again = try await LocalPeer.start("alice", in: scratch)

        #expect(ContinuousClock.now - begin < promised(.seconds(1)))
        #expect(try await again.client.run("send", "after").exit == .status(0))
        #expect(try await again.texts() == ["before", "after"])
    }

    @Test func `of two that start in one instant one stays, each time`() async throws {
        let state = scratch("state")
        for round in 1...50 {
            let both = try (1...2).map { _ in
                try Daemon(
                    ["--room", "lab", "--name", "alice"] + LocalPeer.options(.new()), state: state)
            }
            let (loser, winner) = try await first("one that gave up", within: .seconds(20)) {
                both.firstIndex { $0.process.exit != nil }.map { (both[$0], both[1 - $0]) }
            }
            #expect(loser.process.exit == .status(75), "round \(round)")
            #expect(
                await eventually { loser.process.errors.isAtEnd }
                    && loser.log == ["chatd: already running (process \(winner.process.pid)) in \(state)"]
                    || loser.log == ["chatd: already running in \(state)"], "round \(round): \(loser.log)")
            try await winner.log("how to talk through it") { $0.contains("try: chat ") }
            // The next round finds what a crash leaves.
            try await winner.kill()
        }
    }

    @Test func `what isn't a socket is left as it is`() async throws {
        for kind in ["file", "directory"] {
            let state = try scratch.directory(kind)
            chmod(state, 0o700)
            let path = "\(state)/chatd.sock"
            if kind == "file" {
                _ = try scratch.file("file/chatd.sock", Array("precious".utf8))
            } else {
                _ = try scratch.directory("directory/chatd.sock/inside")
            }
            let before = inode(path)

            let outcome = try await chatd(state)

            #expect(outcome.exit == .status(73))
            #expect(outcome.errors.hasSuffix("chatd: \(path) is not a socket; it is left as it is\n"))
            #expect(inode(path) == before)
        }
        #expect(FileManager.default.contents(atPath: scratch("file/chatd.sock")) == Data("precious".utf8))
    }

    @Test func `a path that is too long for a socket is named with the limit, by both programs`() async throws {
        let state = scratch(String(repeating: "d", count: 90))
        let path = "\(state)/chatd.sock"
        let message = "\(path): a socket's path has at most 107 bytes, this one has \(path.utf8.count);"

        let daemon = try await chatd(state)
        let client = try await run([programs.chat, "--state-dir", state, "send", "hi"])

        #expect(daemon.exit == .status(73))
        #expect(daemon.errors == "chatd: \(message) choose a shorter directory\n")
        #expect(client.exit == .status(73))
        #expect(client.errors == "chat: \(message) choose a shorter directory\n")
        #expect(inode(state) == nil)
    }

    @Test func `a state directory that can't be made is status 73`() async throws {
        let host = Host.unprivileged(.here, try await programs.copied(into: scratch))
        let closed = try scratch.directory("closed")
        chmod(closed, 0o555)
        let file = try scratch.file("file", [1])
        symlink("closed", scratch("link"))
        for (state, reason) in [
            ("\(closed)/state", "mkdir \(closed)/state: Permission denied (errno 13)"),
            ("\(file)/state", "mkdir \(file)/state: Not a directory (errno 20)"),
            (file, "\(file) is not a directory; refusing to use it"),
            (scratch("link"), "\(scratch("link")) is a symbolic link; refusing to use it"),
            ("/proc/state", "mkdir /proc/state: No such file or directory (errno 2)"),
        ] {
            let outcome = try await chatd(state, on: host)
            #expect(outcome.exit == .status(73))
            #expect(outcome.errors == "chatd: \(reason)\n")
        }
    }

    @Test func `a state directory that others can write to, or that is another's, is refused`() async throws {
        let open = try scratch.directory("open")
        chmod(open, 0o777)
        let outcome = try await chatd(open)
        #expect(outcome.exit == .status(73))
        #expect(outcome.errors == "chatd: others can write to \(open); try: chmod 700 \(open)\n")
        guard geteuid() == 0 else { return }
        let host = Host.unprivileged(.here, try await programs.copied(into: scratch))
        let foreign = try scratch.directory("foreign")
        chmod(foreign, 0o755)
        let other = try await chatd(foreign, on: host)
        #expect(other.exit == .status(77))
        #expect(other.errors == "chatd: \(foreign) belongs to another user\n")
    }

    @Test func `a state that can't be written is status 73 or 74, and nothing in it changes`() async throws {
        let host = Host.unprivileged(.here, try await programs.copied(into: scratch))
        let alice = try await LocalPeer.start("alice", in: scratch, on: host)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        #expect(try await alice.daemon.terminate() == .status(0))
        let state = alice.daemon.state
        for (file, wrong, right, status) in [
            ("", mode_t(0o500), mode_t(0o700), CInt(74)), ("/lock", 0o400, 0o600, 73), ("/identity", 0, 0o600, 74),
            ("/blobs", 0, 0o700, 74),
        ] {
            chmod("\(state)\(file)", wrong)
            let outcome = try await chatd(state, on: host)
            #expect(outcome.exit == .status(status), "\(file): \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(file): \(outcome.errors)")
            #expect(outcome.errors.contains("\(state)"), "\(file): \(outcome.errors)")
            #expect(
                outcome.errors.contains("Permission denied") || outcome.errors.contains("readonly database"),
                "\(file): \(outcome.errors)")
            chmod("\(state)\(file)", right)
        }
        let again = try await LocalPeer.start("alice", in: scratch, on: host)
        #expect(try await again.texts() == ["hi"])
    }

    @Test func `a key that is no key is never replaced`() async throws {
        for bytes in [[], [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33)] {
            let state = try scratch.directory("state\(bytes.count)")
            chmod(state, 0o700)
            let file = try scratch.file("state\(bytes.count)/identity", bytes)
            let outcome = try await chatd(state)
            #expect(outcome.exit == .status(74))
            #expect(outcome.errors == "chatd: \(file) holds no key; move it away to become somebody new\n")
            #expect(FileManager.default.contents(atPath: file) == Data(bytes))
        }
    }

    @Test func `a history that is damaged is set aside, and the log says so`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        #expect(try await alice.daemon.terminate() == .status(0))
        let database = "\(alice.daemon.state)/history.db"
        try Data(picture(50_000)).write(to: URL(fileURLWithPath: database))

        let again = try await LocalPeer.start("alice", in: scratch)

        #expect(again.daemon.log.contains { $0.contains("the history was damaged and is kept as ") })
        #expect(try await again.client.run("send", "hi again").exit == .status(0))
        #expect(try await again.texts() == ["hi again"])
    }

    @Test func `a port that is taken is status 74 and named`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)

        let outcome = try await run(
            [programs.chatd, "--state-dir", scratch("other"), "--room", "lab", "--name", "bob"]
                + LocalPeer.options(alice.place))

        #expect(outcome.exit == .status(74))
        #expect(outcome.errors == "chatd: bind \(alice.place): Address already in use (errno 98)\n")
    }

    @Test(arguments: ["000", "022", "277"])
    func `all that is made is its user's alone, whatever the umask`(mask: String) async throws {
        let state = scratch("state")
        let place = Place.new()
        let process = try Subprocess(
            [
                "bash", "-c", "umask \(mask); exec \"$0\" \"$@\"", programs.chatd, "--state-dir", state, "--room",
                "lab",
                "--name", "alice", "--downloads", scratch("downloads"),
            ] + LocalPeer.options(place))
        _ = try await process.errors.line("how to talk", within: .seconds(20)) { $0.contains("try: chat ") }
        let blob = FakeBlob(picture(100))
        let peer = try FakePeer.join(dialling: place, serve: blob.answer)
        try peer.announce("x.png", blob.size, blob.root)
        #expect(await eventually { peer.progress(of: blob.root).contains(.verified(100)) })

        for name in try FileManager.default.subpathsOfDirectory(atPath: state) + [""] {
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(state)/\(name)", isDirectory: &isDirectory)
            #expect(mode("\(state)/\(name)") == (isDirectory.boolValue ? 0o700 : 0o600), "\(name)")
        }
        #expect(mode(scratch("downloads")) == 0o700)
        #expect(mode(scratch("downloads/x.png")) == 0o600)
    }

    @Test(.rootOnly) func `another user is nobody's client, not even root`() async throws {
        let host = Host.unprivileged(.here, try await programs.copied(into: scratch))
        let alice = try await LocalPeer.start("alice", in: scratch)
        let bob = try await LocalPeer.start("bob", in: scratch, on: host)

        let toRoot = try await run([host.programs.chat, "--state-dir", alice.daemon.state, "send", "hi"], on: host)
        let fromRoot = try await run([programs.chat, "--state-dir", bob.daemon.state, "send", "hi"])

        #expect(toRoot.exit == .status(77))
        #expect(toRoot.errors == "chat: \(alice.daemon.state)/chatd.sock belongs to another user\n")
        #expect(fromRoot.exit == .status(77))
        #expect(fromRoot.errors == "chat: the chatd at \(bob.daemon.state)/chatd.sock belongs to another user\n")
        let raw = try RawSocket(path: "\(bob.daemon.state)/chatd.sock")
        try? raw.write(Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"send\",\"params\":{\"text\":\"hi\"}}\n".utf8))
        #expect(String(decoding: try raw.readToEnd(), as: UTF8.self).contains("this chatd belongs to another user"))
        #expect(try await alice.texts() == [])
        let log = try await run([host.programs.chat, "--state-dir", bob.daemon.state, "log"], on: host)
        #expect(log.output == "")
    }
}
