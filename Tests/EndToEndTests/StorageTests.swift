import ChatModel
import Control
import Foundation
import Glibc
import Testing

/// A file system in memory for one state directory, mounted while this lives.
private final class SmallDisk: Sendable {
    let path: String
    private var ballast: String { "\(path)/ballast" }

    init(at path: String, megabytes: Int) async throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try await Self.command("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=700", "tmpfs", path)
    }

    deinit { umount2(path, CInt(MNT_DETACH)) }

    /// Takes up all of its room but `rest` bytes.
    func fill(leaving rest: Int) throws {
        var status = statvfs()
        try #require(statvfs(path, &status) == 0)
        let room = Int(status.f_bavail) * Int(status.f_frsize)
        try Data(count: max(0, room - rest)).write(to: URL(fileURLWithPath: ballast))
    }

    func free() throws { try FileManager.default.removeItem(atPath: ballast) }

    /// Lets nobody write to it, until ``proceed()``.
    func hold() async throws { try await Self.command("mount", "-o", "remount,ro", path) }

    static func command(_ words: String...) async throws {
        let outcome = try await run(words)
        if outcome.exit != .status(0) { throw LabFailure("\(words): \(outcome.errors)") }
    }
}

/// An ext4 of its own on a loop device, mounted while this lives.
private final class FailingDisk: Sendable {
    let path: String
    private let image: String

    init(at path: String, image: String) async throws {
        (self.path, self.image) = (path, image)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try await SmallDisk.command("truncate", "-s", "16M", image)
        try await SmallDisk.command("mkfs.ext4", "-q", image)
        try await mount(image)
    }

    deinit { umount2(path, CInt(MNT_DETACH)) }

    private func mount(_ image: String) async throws {
        try await SmallDisk.command("mount", "-o", "loop,errors=remount-ro", image, path)
        chmod(path, 0o700)
    }

    /// Lets the kernel find an error in it, after which nothing more is written to it (ext4(5), errors).
    func fail() async throws {
        let device = try await run(["findmnt", "-no", "SOURCE", path]).output.split(separator: "/").last
        let name = try #require(device).trimmingCharacters(in: .whitespacesAndNewlines)
        try Data("1\n".utf8).write(to: URL(fileURLWithPath: "/sys/fs/ext4/\(name)/trigger_fs_error"))
    }

    /// Mounts a repaired copy in its place; nobody may have a file of it open.
    ///
    /// A lab that came up meanwhile has this mount too, in namespaces of its own, and keeps the kernel's failed one alive.
    func repair() async throws {
        try await SmallDisk.command("umount", path)
        sync()
        try await SmallDisk.command("cp", image, "\(image)-repaired")
        _ = try await run(["e2fsck", "-fy", "\(image)-repaired"])
        try await mount("\(image)-repaired")
    }
}

/// Disks that fill, databases that rot, are restored or are of another version: what chatd says, and how it goes on.
@Suite(.fewAtOnce) struct StorageTests {
    private let scratch: Scratch
    private let programs = Programs.built

    init() throws { scratch = try Scratch() }

    private func database(of peer: LocalPeer) -> String { "\(peer.daemon.state)/history.db" }

    /// The lines of `chat status` about trouble.
    private func troubles(of peer: LocalPeer) async throws -> [String] {
        try await peer.client.run("status").lines.filter { $0.hasPrefix("trouble: ") }
    }

    private func has(_ peer: LocalPeer, _ texts: [String]) async throws -> Bool {
        try await eventually(within: promised(.seconds(20))) { try await peer.texts() == texts }
    }

    @Test(.rootOnly) func `on a full disk nothing is confirmed, all is readable, and it goes on when there is room`()
        async throws
    {
        let disk = try await SmallDisk(at: scratch("alice-state"), megabytes: 8)
        let (alice, bob) = try await pair(in: scratch)
        try disk.fill(leaving: 400 << 10)
        let long = String(repeating: "x", count: 12_000)
        var confirmed: [String] = []
        var refused: Outcome?
        while refused == nil, confirmed.count < 200 {
            let outcome = try await alice.client.run("send", "\(confirmed.count) \(long)")
            if outcome.exit == .status(0) { confirmed.append("\(confirmed.count) \(long)") } else { refused = outcome }
        }

        #expect(refused?.exit == .status(74))
        #expect(refused?.errors.contains("disk is full") == true && refused?.errors.contains("free some room") == true)
        #expect(refused?.errors.split(separator: "\n").count == 1)
        #expect(!confirmed.isEmpty)
        #expect(try await alice.texts() == confirmed)
        #expect(try await troubles(of: alice).first?.contains("nothing can be stored") == true)
        #expect(try await bob.client.run("send", "meanwhile \(long)").exit == .status(0))
        #expect(try await alice.client.run("send", long).exit == .status(74))
        #expect(alice.daemon.log.count { $0.contains("nothing can be stored") } == 1)
        try disk.free()
        #expect(try await alice.client.run("send", "there is room").exit == .status(0))

        #expect(try await eventually(within: .seconds(30)) { try await alice.texts().count == confirmed.count + 2 })
        #expect(try await has(bob, try await alice.texts()))
        #expect(try await troubles(of: alice).isEmpty)
        #expect(alice.daemon.log.contains { $0.contains("the history is stored again") })
        #expect(try await alice.daemon.terminate() == .status(0))
    }

    @Test(.rootOnly) func `a state on a disk that can't be written to is one line, and status 73 or 74`() async throws {
        let disk = try await SmallDisk(at: scratch("alice-state"), megabytes: 8)
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        #expect(try await alice.daemon.terminate() == .status(0))
        let before = FileManager.default.contents(atPath: database(of: alice))
        try await disk.hold()

        let outcome = try await run(
            [programs.chatd, "--state-dir", alice.daemon.state, "--room", "lab", "--name", "alice"]
                + LocalPeer.options(.new()))

        #expect(outcome.exit == .status(73) || outcome.exit == .status(74))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(outcome.errors.contains(alice.daemon.state) && outcome.errors.contains("ead-only file system"))
        #expect(FileManager.default.contents(atPath: database(of: alice)) == before)
    }

    @Test(.rootOnly, .enabled(if: FileManager.default.fileExists(atPath: "/dev/loop-control")))
    func `on a disk that fails in use nothing is confirmed, all is readable, and a repair brings all back`()
        async throws
    {
        let disk = try await FailingDisk(at: scratch("alice-state"), image: scratch("image"))
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "before").exit == .status(0))
        try await disk.fail()

        for _ in 1...2 {
            let refused = try await alice.client.run("send", "meanwhile")
            #expect(refused.exit == .status(74))
            #expect(refused.errors.hasPrefix("chat: not stored: write \(database(of: alice)): "))
            #expect(refused.errors.split(separator: "\n").count == 1)
        }
        #expect(try await alice.texts() == ["before"])
        #expect(try await troubles(of: alice).first?.contains("nothing can be stored") == true)
        #expect(alice.daemon.log.count { $0.contains("nothing can be stored") } == 1)
        #expect(try await alice.daemon.terminate() == .status(0))
        try await disk.repair()
        let again = try await LocalPeer.start("alice", in: scratch)

        #expect(try await again.client.run("send", "after").exit == .status(0))
        #expect(try await again.texts() == ["before", "after"])
        #expect(try await again.daemon.terminate() == .status(0))
    }

    @Test func `a damaged database is kept aside, and what it held comes back from a peer`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        for text in ["one", "two", "three"] { #expect(try await alice.client.run("send", text).exit == .status(0)) }
        #expect(try await has(bob, ["one", "two", "three"]))
        #expect(try await bob.client.run("send", "four").exit == .status(0))
        #expect(try await has(alice, ["one", "two", "three", "four"]))
        let key = FileManager.default.contents(atPath: "\(alice.daemon.state)/identity")
        #expect(try await alice.daemon.terminate() == .status(0))
        let file = try #require(FileHandle(forUpdatingAtPath: database(of: alice)))
        try file.seek(toOffset: 2 * 4096)
        try file.write(contentsOf: Data(repeating: 0xee, count: 4096))
        try file.close()

        let again = try await LocalPeer.start("alice", in: scratch, at: alice.place, dialling: [bob.place])
        #expect(try await again.client.run("send", "five").exit == .status(0))

        let all = ["one", "two", "three", "four", "five"]
        for peer in [again, bob] {
            #expect(try await eventually(within: promised(.seconds(20))) { try await Set(peer.texts()) == Set(all) })
            #expect(try await peer.texts().count == 5)
            #expect(!peer.daemon.log.contains { $0.contains("two histories") })
        }
        #expect(again.daemon.log.count { $0.contains("the history was damaged and is kept as ") } == 1)
        #expect(try await troubles(of: again).contains { $0.contains("kept as history-damaged-1.db") })
        #expect(FileManager.default.contents(atPath: "\(again.daemon.state)/identity") == key)
    }

    @Test(arguments: ["written over", "another file"])
    func `an old database that is put back makes no second history`(how: String) async throws {
        let (alice, bob) = try await pair(in: scratch)
        #expect(try await alice.client.run("send", "one").exit == .status(0))
        #expect(try await alice.daemon.terminate() == .status(0))
        let old = try #require(FileManager.default.contents(atPath: database(of: alice)))
        let later = try await LocalPeer.start("alice", in: scratch, at: alice.place, dialling: [bob.place])
        for text in ["two", "three"] { #expect(try await later.client.run("send", text).exit == .status(0)) }
        #expect(try await has(bob, ["one", "two", "three"]))
        #expect(try await later.daemon.terminate() == .status(0))
        if how == "another file" {
            try FileManager.default.removeItem(atPath: database(of: alice))
            _ = try scratch.file("alice-state/history.db", Array(old))
            chmod(database(of: alice), 0o600)
        } else {
            let file = try #require(FileHandle(forUpdatingAtPath: database(of: alice)))
            try file.write(contentsOf: old)
            try file.truncate(atOffset: UInt64(old.count))
            try file.close()
        }

        let again = try await LocalPeer.start("alice", in: scratch, at: alice.place, dialling: [bob.place])
        #expect(try await again.client.run("send", "four").exit == .status(0))

        for peer in [again, bob] {
            #expect(try await has(peer, ["one", "two", "three", "four"]))
            #expect(!peer.daemon.log.contains { $0.contains("two histories") }, "\(peer.daemon.log)")
        }
        #expect(try await bob.client.run("send", "five").exit == .status(0))
        #expect(try await has(again, ["one", "two", "three", "four", "five"]))
    }

    @Test func `a newer version's database is one line, status 74, and left as it is`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        #expect(try await alice.daemon.terminate() == .status(0))
        let path = database(of: alice)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 60)  // user_version (sqlite.org/fileformat.html)
        try file.write(contentsOf: Data([0, 0, 0, 99]))
        try file.close()
        let before = FileManager.default.contents(atPath: path)

        let outcome = try await run(
            [programs.chatd, "--state-dir", alice.daemon.state, "--room", "lab", "--name", "alice"]
                + LocalPeer.options(.new()))

        #expect(outcome.exit == .status(74))
        #expect(outcome.errors.hasPrefix("chatd: \(path) is of a newer version (schema 99, this one knows "))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(FileManager.default.contents(atPath: path) == before)
    }
}
