import Control
import Foundation
import Glibc
import Locking
import SystemCalls
import Testing

struct SendTests {
    private let daemon: FakeDaemon
    private let command: Command

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    private var texts: [String] { daemon.state.withLock { $0.texts } }

    @Test func `words are joined by a space, and it is silent`() {
        #expect(command("send", "see", "you", "--print-id") == Outcome(status: 0, output: "", complaints: ""))
        #expect(texts == ["see you --print-id"])
    }

    @Test func `the id is printed on request, and a nonce is passed on`() {
        let nonce = String(repeating: "0f", count: 16)

        #expect(command("send", "--print-id", "--nonce", nonce, "--", "-x").output == "id1\n")
        #expect(texts == ["-x"])
        #expect(daemon.state.withLock { $0.nonces } == [nonce])
    }

    @Test func `alone in the room it says so and ends with 0`() {
        daemon.state.withLock { $0.linked = 0 }

        #expect(
            command("send", "hi")
                == Outcome(status: 0, output: "", complaints: "stored; nobody else is in lab yet\n"))
    }

    @Test func `a text over the limit names it, and nothing is stored`() {
        let text = String(repeating: "x", count: 100_000)

        #expect(
            command("send", text)
                == Outcome(
                    status: 65, output: "",
                    complaints: "chat: the text has 100000 bytes; the limit is 16384 bytes\n"))
        #expect(texts.isEmpty)
    }

    @Test func `the daemon's refusal is its line and its status`() {
        daemon.state.withLock { $0.refusal = ControlError(.inputOutput, "the disk is full") }

        #expect(command("send", "hi") == Outcome(status: 74, output: "", complaints: "chat: the disk is full\n"))
    }

    @Test func `each line of the input is a message, in order`() {
        let lines = (1...5000).map { "line \($0)" }
        let input = Array((lines.joined(separator: "\n") + "\n\nno end").utf8)

        #expect(command("send", "-", input: input) == Outcome(status: 0, output: "", complaints: ""))
        #expect(texts == lines + ["no end"])
    }

    @Test func `ids of lines are printed in order`() {
        #expect(command("send", "--print-id", "-", input: Array("a\r\nb".utf8)).output == "id1\nid2\n")
        #expect(texts == ["a", "b"])
    }

    @Test(arguments: [
        (Array(String(repeating: "x", count: 16_385).utf8), "line 3 has 16385 bytes; the limit is 16384 bytes"),
        (Array(String(repeating: "x", count: 100_000).utf8), "line 3 has 100000 bytes; the limit is 16384 bytes"),
        (Array(repeating: 0x78, count: 1 << 21), "line 3 is too long; the limit is 16384 bytes"),
        ([0xC3, 0x28], "line 3 is not UTF-8"),
    ])
    func `the first bad line ends it, and what was stored is said`(bad: [UInt8], complaint: String) {
        let outcome = command("send", "-", input: Array("a\nb\n".utf8) + bad + Array("\nc\n".utf8))

        #expect(outcome.status == 65)
        #expect(texts == ["a", "b"])
        #expect(outcome.complaints == "chat: \(complaint); 2 messages are stored\n")
    }

    @Test func `a longest text goes through`() {
        let text = String(repeating: "é", count: 8192)

        #expect(command("send", "-", input: Array("\(text)\r\n".utf8)).status == 0)
        #expect(texts == [text])
    }

    @Test func `with a pipe as input chat sends all and ends, and shows what comes`() {
        let outcome = command(input: Array("one\ntwo".utf8))

        #expect(outcome.status == 0)
        #expect(texts == ["one", "two"])
        #expect(!outcome.output.contains("\u{1b}"))
    }

    @Test func `a daemon that goes away is status 69`() {
        let daemon = daemon
        let (end, feed) = Command.pipe()
        let (_, sink) = Command.pipe()
        let (complaints, errors) = Command.pipe()
        Thread.detachNewThread {
            _ = eventually { daemon.state.withLock { !$0.watchers.isEmpty } }
            daemon.stop()
        }

        let status = ClientCommandRunner.run([], command.environment, end, sink, errors)

        #expect(status == 69)
        var buffer = [UInt8](repeating: 0, count: 200)
        let count = read(complaints.number, &buffer, buffer.count)
        #expect(String(decoding: buffer[..<max(0, count)], as: UTF8.self) == "chat: chatd went away\n")
        withExtendedLifetime(feed) {}
    }

    @Test func `a reader that leaves ends chat quietly`() {
        let daemon = daemon
        let (end, feed) = Command.pipe()
        let (complaints, errors) = Command.pipe()
        let sink = { () -> Descriptor in
            let (_, sink) = Command.pipe()
            return sink
        }()
        Thread.detachNewThread {
            _ = eventually { daemon.state.withLock { !$0.watchers.isEmpty } }
            daemon.say(FakeDaemon.line("nobody reads this"))
        }

        #expect(ClientCommandRunner.run([], command.environment, end, sink, errors) == 0)
        withExtendedLifetime((feed, complaints)) {}
    }
}
