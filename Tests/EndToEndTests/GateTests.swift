import Control
import Foundation
import Glibc
import Testing

/// Who is who, and who gets in, with the two programs.
@Suite(.fewAtOnce) struct GateTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `a stranger waits until it is accepted, is told so, and then both hear each other`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch, "--admit", "ask")
        let bob = try await LocalPeer.start("bob", in: scratch, dialling: [alice.place])
        try await alice.daemon.log("the question") { $0.contains("'bob'") && $0.contains("wants to come in") }
        try await bob.daemon.log("the wait") { $0 == "chatd: waiting for somebody in lab to let you in" }
        #expect(try await bob.client.run("send", "hi").errors == "stored; nobody else is in lab yet\n")
        #expect(try await alice.peers().map(\.state) == [.waiting])
        #expect(try await bob.peers().map(\.state) == [.undecided])
        let wrong = try await alice.client.run("accept", "carol")
        #expect(wrong.exit == .status(64) && wrong.errors.contains("bob ("))
        #expect(wrong.errors.split(separator: "\n").count == 1)
        #expect(try await alice.texts().isEmpty)

        #expect(try await alice.client.run("accept", "bob").exit == .status(0))
        try await alice.isLinked(with: "bob")
        #expect(await eventually { (try? await alice.texts()) == ["hi"] })
    }

    @Test func `who is blocked is cut off, also after a restart, and comes back when it is unblocked`() async throws {
        let place = Place.new()
        let alice = try await LocalPeer.start("alice", in: scratch, at: place)
        let mallory = try await LocalPeer.start("mallory", in: scratch, dialling: [place])
        try await alice.isLinked(with: "mallory")
        #expect(try await alice.client.run("block", "mallory").exit == .status(0))
        try await mallory.daemon.log("the end") { $0 == "chatd: 'alice' is Not Connected" }
        #expect(try await mallory.client.run("send", "spam").exit == .status(0))
        #expect(try await alice.peers().map(\.verdict) == ["blocked"])
        try await alice.daemon.terminate()

        let again = try await LocalPeer.start("alice", in: scratch, at: place)
        #expect(try await again.peers().map(\.verdict) == ["blocked"])
        #expect(try await again.client.run("unblock", "mallory").exit == .status(0))
        #expect(await eventually(within: .seconds(20)) { (try? await again.texts()) == ["spam"] })
    }

    @Test func `both ends see one code, and status what they use`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let code = try await alice.client.run("verify-peer", "bob").output
        let status = try JSONDecoder().decode(
            StatusResult.self, from: Data(try await alice.client.run("status", "--json").output.utf8))

        #expect(code.split(separator: " ").count == 6)
        let others = try await bob.client.run("verify-peer", "alice").output
        #expect(others == code)
        #expect(status.peers.map(\.name) == ["bob"])
        #expect(status.pid == Int(alice.daemon.process.pid))
        #expect(status.memory > 1 << 20 && status.descriptors > 5 && status.threads > 1 && status.history > 0)
    }

    @Test func `chatd can't be looked into`() async throws {
        let scratch = try Scratch(isOpenToAll: true)
        let host = Host.unprivileged(.here, try await Programs.built.copied(into: scratch))
        let alice = try await LocalPeer.start("alice", in: scratch, on: host)
        let process = "/proc/\(alice.daemon.process.pid)"
        var status = stat()

        // The kernel gives the files of a process that mustn't be looked into to root, whoever runs it (proc(5)).
        #expect(lstat("\(process)/mem", &status) == 0 && status.st_uid == 0)
        let limits = try String(contentsOfFile: "\(process)/limits", encoding: .utf8)
        #expect(limits.split(separator: "\n").contains { $0.hasPrefix("Max core file size") && $0.contains(" 0 ") })
    }
}
