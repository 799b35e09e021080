import Control
import Foundation
import Glibc
import Testing

/// Whoever reads what the programs write may go away at any time.
@Suite(.fewAtOnce) struct ReaderTests {
    private let scratch: Scratch
    private let hundred = (1...100).map { "line \($0)" }

    init() throws { scratch = try Scratch() }

    private func sendHundred(_ member: LocalPeer) async throws {
        let outcome = try await member.client.run("send", "-", input: hundred.joined(separator: "\n"))
        #expect(outcome.exit == .status(0))
    }

    @Test func `a pipe that closes ends the client quietly, and nobody else`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let other = try alice.client.start("log", "--follow", "--json")
        let script = "\"$0\" --state-dir \"$1\" <&0 | head -n 1; echo ${PIPESTATUS[0]}"
        let reader = try Subprocess(
            ["bash", "-c", script, Programs.built.chat, alice.daemon.state], input: .open)
        try await areWatching([reader, other], alice)

        try await sendHundred(alice)

        #expect(try await reader.exit(within: .seconds(20)) == .status(0))
        #expect(["0", "141"].contains(reader.output.lines.last))
        #expect(reader.output.lines.first?.hasSuffix("alice: ready") == true)
        #expect(reader.errors.text == "")
        #expect(await eventually { (try? texts(other)) == hundred })
        #expect(alice.daemon.process.exit == nil)
    }

    @Test func `a client that is killed takes nothing with it`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let killed = try alice.client.start("log", "--follow", "--json")
        let other = try alice.client.start("log", "--follow", "--json")
        try await areWatching([killed, other], alice)
        let before = alice.descriptors

        killed.signal(SIGKILL, all: true)
        try await sendHundred(alice)

        #expect(await eventually { (try? texts(other)) == hundred })
        #expect(alice.daemon.process.exit == nil)
        #expect(await eventually(within: promised(.seconds(2))) { alice.descriptors < before })
    }

    @Test func `a client that stands still is told all once it goes on, however much that is`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        let slow = try alice.client.start("log", "--follow", "--json")
        try await areWatching([slow], alice)
        let said = (1...2_500).map { "line \($0) ".padding(toLength: 1024, withPad: "x", startingAt: 0) }

        slow.signal(SIGSTOP, all: true)
        let outcome = try await alice.client.run("send", "-", input: said.joined(separator: "\n"))
        #expect(outcome.exit == .status(0))
        slow.signal(SIGCONT, all: true)
        try await sendHundred(alice)

        #expect(await eventually(within: promised(.seconds(10))) { (try? texts(slow)) == said + hundred })
        #expect(slow.exit == nil)
    }

    @Test func `a peer that is killed in the middle of an image takes nothing with it`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        let file = try scratch.file("large.png", picture(20 << 20))
        let sending = try alice.client.start("send-image", file)
        _ = try await alice.image("large.png") { _ in true }

        try await bob.daemon.kill()

        _ = try await sending.exit(within: .seconds(20))
        try await sendHundred(alice)
        #expect(try await alice.texts() == hundred)
        #expect(alice.daemon.process.exit == nil)
    }

    @Test func `a daemon whose log nobody reads goes on, and leaves when it is told to`() async throws {
        let script = "\"$0\" \"${@:2}\" 2>&1 | head -n 1; sleep 1000"
        let place = Place.new()
        let state = scratch("state")
        let shell = try Subprocess(
            ["bash", "-c", script, Programs.built.chatd, "", "--state-dir", state, "--room", "lab", "--name", "alice"]
                + LocalPeer.options(place))
        let client = Client(state: state)
        #expect(try await client.run("send", "hi").exit == .status(0))
        let pid = try await pid(state)

        for _ in 1...3 {
            let peer = try FakePeer.join(dialling: place)
            peer.end()
        }
        #expect(try await client.run("send", "hi").exit == .status(0))
        #expect(try await self.pid(state) == pid)
        kill(pid, SIGTERM)
        #expect(await eventually(within: promised(.seconds(2))) { kill(pid, 0) != 0 })
        #expect(shell.exit == nil)
    }

    @Test func `a daemon whose log stands still goes on, and leaves when it is told to`() async throws {
        // A pipe that is full, with a reader that doesn't read.
        let script = """
            import os, subprocess, sys
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            try:
                while True: os.write(writing, b"x" * 4096)
            except BlockingIOError: pass
            os.set_blocking(writing, True)
            daemon = subprocess.Popen(sys.argv[1:], stderr=writing)
            print(daemon.pid, flush=True)
            print(daemon.wait(), flush=True)
            """
        let state = scratch("state")
        let place = Place.new()
        let shell = try Subprocess(
            ["python3", "-c", script, Programs.built.chatd, "--state-dir", state, "--room", "lab", "--name", "alice"]
                + LocalPeer.options(place))
        let pid = pid_t(try await shell.output.line("the process") { !$0.isEmpty }) ?? 0
        let client = Client(state: state)
        #expect(try await client.run("send", "hi").exit == .status(0))

        let peer = try FakePeer.join(dialling: place)
        #expect(try await client.run("send", "hi").exit == .status(0))
        #expect(await eventually { peer.texts == ["hi", "hi"] })
        kill(pid, SIGTERM)

        #expect(try await shell.exit(within: promised(.seconds(3))) == .status(0))
        #expect(shell.output.lines.last == "0")
    }

    @Test func `streams that were closed from the start become no file of ours`() async throws {
        let state = scratch("state")
        let script = "exec \"$0\" \"$@\" 0<&- 1>&- 2>&-"
        let daemon = try Subprocess(
            ["bash", "-c", script, Programs.built.chatd, "--state-dir", state, "--room", "lab", "--name", "alice"]
                + LocalPeer.options(.new()))
        #expect(try await Client(state: state).run("send", "hi").exit == .status(0))
        let before = try files(in: state)

        let chat = "\(Programs.built.chat) --state-dir \(state)"
        let unwritable = try await run(["bash", "-c", "\(chat) log 1>&-"])
        #expect(unwritable.exit == .status(74))
        #expect(unwritable.errors == "chat: write output: Bad file descriptor (errno 9)\n")
        let unreadable = try await run(["bash", "-c", "\(chat) send - 0<&-"])
        #expect(unreadable.exit == .status(74))
        #expect(unreadable.errors == "chat: standard input: Bad file descriptor\n")
        #expect(try await run(["bash", "-c", "\(chat) send again 0<&- 1>&- 2>&-"]).exit == .status(0))

        daemon.signal(SIGTERM)
        #expect(try await daemon.exit(within: .seconds(5)) == .status(0))
        #expect(before["lock"] == Data("\(daemon.pid)\n".utf8))
        #expect(try files(in: state).filter { ["lock", "identity", "last"].contains($0.key) } == before)
        #expect(before["identity"]?.count == 32)
    }

    private func files(in state: String) throws -> [String: Data] {
        try ["lock", "identity", "last"].reduce(into: [:]) { files, name in
            files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(state)/\(name)"))
        }
    }

    @Test func `output that can't be written is status 74`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))

        let outcome = try await run(
            ["bash", "-c", "exec \"$0\" --state-dir \"$1\" log >/dev/full", Programs.built.chat, alice.daemon.state])

        #expect(outcome.exit == .status(74))
        #expect(outcome.errors == "chat: write output: No space left on device (errno 28)\n")
    }

    /// Says something until all of them have heard of it.
    private func areWatching(_ watchers: [Subprocess], _ member: LocalPeer) async throws {
        let isHeard = await eventually(within: .seconds(20)) {
            _ = try? await member.client.run("send", "ready")
            return await eventually(within: .seconds(1)) { watchers.allSatisfy { !$0.output.lines.isEmpty } }
        }
        try #require(isHeard)
    }

    private func texts(_ watcher: Subprocess) throws -> [String] {
        try watcher.output.lines.compactMap {
            try JSONDecoder().decode(LineView.self, from: Data($0.utf8)).text
        }.filter { $0 != "ready" }
    }

    private func pid(_ state: String) async throws -> pid_t {
        let answer = try control(state, #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#)
        struct Answer: Decodable { var result: HelloResult }
        return pid_t(try JSONDecoder().decode(Answer.self, from: Data(answer.utf8)).result.pid)
    }
}

/// Asks a daemon as `socat` would, and gives the next line that comes.
func control(_ state: String, _ request: String) throws -> String {
    let socket = try RawSocket(path: "\(state)/chatd.sock")
    try socket.write(Array((request + "\n").utf8))
    return try socket.readLine()
}
