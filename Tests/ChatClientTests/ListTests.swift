import Control
import Foundation
import Glibc
import Locking
import SystemCalls
import Testing

struct ListTests {
    private let daemon: FakeDaemon
    private let command: Command

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    @Test func `the log shows the newest lines, oldest first`() {
        for number in 1...5 { daemon.say(FakeDaemon.line("line \(number)")) }

        let lines = command("log", "-n", "2").output.split(separator: "\n")

        #expect(lines.map { $0.dropFirst(6) } == ["bob: line 4", "bob: line 5"])
    }

    @Test func `two of one name are told apart from the first line on`() {
        daemon.state.withLock {
            $0.peers = [PeerView(peer: "cc", name: "bob", suffix: "cccccc", state: .connected, since: 0)]
        }
        daemon.say(FakeDaemon.line("hi"))

        #expect(command("log").output.hasSuffix(" bob (bb0000): hi\n"))
    }

    @Test func `as JSON each row is an object that decodes to what the daemon said`() throws {
        let line = FakeDaemon.line("a\n\u{1b}[2J\u{202e}é", id: "00")
        daemon.say(line)

        let output = command("log", "--json").output

        #expect(output.split(separator: "\n").count == 1)
        #expect(!output.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" })
        #expect(try JSONDecoder().decode(LineView.self, from: Data(output.utf8)) == line)
    }

    @Test func `following goes on with what comes until the daemon ends`() {
        let daemon = daemon
        daemon.say(FakeDaemon.line("before"))
        Thread.detachNewThread {
            _ = eventually { daemon.state.withLock { !$0.watchers.isEmpty } }
            daemon.say(FakeDaemon.line("after"))
            daemon.stop()
        }

        let outcome = command("log", "--follow")

        #expect(outcome.output.split(separator: "\n").map { $0.dropFirst(6) } == ["bob: before", "bob: after"])
        #expect(outcome.status == 69)
        #expect(outcome.complaints == "chat: chatd went away\n")
    }

    @Test func `peers are listed in columns or as JSON`() throws {
        let peer = PeerView(
            peer: "bb", name: "bob", suffix: "bb", state: .connected, endpoint: "10.0.0.2:42",
            since: Int(Date().timeIntervalSince1970 * 1000))
        daemon.state.withLock { $0.peers = [peer] }

        #expect(command("peers").output.hasPrefix("bob  connected  10.0.0.2:42  since "))
        #expect(try JSONDecoder().decode(PeerView.self, from: Data(command("peers", "--json").output.utf8)) == peer)
    }

    @Test func `an empty room is said on the error stream`() {
        #expect(
            command("peers") == Outcome(status: 0, output: "", complaints: "nobody else is in lab yet\n"))
        #expect(command("peers", "--json") == Outcome(status: 0, output: "", complaints: ""))
    }

    @Test func `nothing from a peer drives the terminal through a pipe`() {
        daemon.say(FakeDaemon.line("\u{1b}[2J\r\u{9b}x", name: "\u{1b}]0;x\u{7}"))

        let output = command("log").output

        #expect(!output.dropLast().unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        #expect(output.contains("\\x1b[2J\\x0d\\x9bx"))
    }
}
