import Control
import Foundation
import Locking
import Testing

struct GateCommandTests {
    private let daemon: FakeDaemon
    private let command: Command

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    @Test(arguments: [
        ("trust", "trusted"), ("block", "blocked"), ("unblock", "not blocked any more"), ("accept", "let in"),
        ("refuse", "turned away"),
    ])
    func `a decision goes to the daemon as it was typed, and is told`(word: String, participle: String) {
        #expect(command(word, "bob") == Outcome(status: 0, output: "bob (bbbbbb) is \(participle)\n", complaints: ""))
        #expect(daemon.state.withLock { $0.decisions } == ["\(word) bob"])
    }

    @Test func `a peer that nobody can be is one line with the candidates, and 64`() {
        daemon.state.withLock { $0.refusal = ControlError(.usage, "'x' is nobody known here: bob (bbbbbb)") }

        #expect(
            command("trust", "x")
                == Outcome(status: 64, output: "", complaints: "chat: 'x' is nobody known here: bob (bbbbbb)\n"))
    }

    @Test(arguments: ["trust", "block", "unblock", "accept", "refuse", "verify-peer"])
    func `without a peer, or with two, it says what is missing`(word: String) {
        #expect(command(word).status == 64)
        #expect(command(word, "bob", "b").complaints.contains("quote a name that has spaces"))
    }

    @Test func `the code is all that verify-peer prints`() {
        #expect(command("verify-peer", "bob").output == "00001 00002\n")
    }

    @Test func `status says what the daemon uses, and what a peer says drives no terminal`() {
        let output = command("status").output

        #expect(output.contains("up 1 h 1 min"))
        #expect(output.contains("memory 1 MiB, 9 descriptors, 4 threads"))
        #expect(output.contains("b\\x1bb (bbbbbb): 2 KiB to send, 1 byte in hand, read no further for now"))
        #expect(output.contains("admission ask"))
    }

    @Test func `peers with long shows the whole key, the clock, the verdict and what is wrong`() {
        var peer = PeerView(peer: "0123456789abcdef", name: "bob", suffix: "012345", state: .waiting, since: 0)
        peer.warning = "the name belongs to another key, aaaaaa"
        peer.clockOffset = -2_300
        peer.failure = "nobody listens there"
        peer.verdict = "trusted"
        let view = peer
        daemon.state.withLock { $0.peers = [view] }

        let long = command("peers", "--long").output
        for line in [
            "bob (012345)  waiting\n", "  key: 0123 4567 89ab cdef\n", "  clock: 2.3 s behind\n",
            "  verdict: trusted\n",
            "  warning: the name belongs to another key, aaaaaa\n", "  last failure: nobody listens there\n",
        ] { #expect(long.contains(line)) }
        let short = command("peers").output
        #expect(short.contains("; trusted; the name belongs to another key, aaaaaa; chat accept or refuse"))
    }

    @Test func `names that look alike are told apart in the transcript`() {
        daemon.state.withLock {
            $0.peers = [PeerView(peer: "cc", name: "bоb", suffix: "cccccc", state: .connected, since: 0)]
        }
        daemon.say(FakeDaemon.line("hi"))

        #expect(command("log").output.hasSuffix(" bob (bb0000): hi\n"))
    }
}
