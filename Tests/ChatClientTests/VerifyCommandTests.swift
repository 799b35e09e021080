import Control
import Foundation
import Locking
import Testing

@testable import ChatClient

struct VerifyCommandTests {
    private let daemon: FakeDaemon
    private let command: Command

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    private func set(_ peers: VerifyResult.Peer..., forked: [String] = []) {
        daemon.state.withLock { $0.comparison = VerifyResult(messages: 1_234, peers: peers, forked: forked) }
    }

    private func peer(
        _ name: String, _ state: VerifyResult.Peer.State, _ ranges: VerifyResult.Range...
    ) -> VerifyResult.Peer { VerifyResult.Peer(peer: name, name: name, suffix: "a1b2c3", state: state, ranges: ranges) }

    private func range(_ kind: VerifyResult.Range.Kind, _ first: Int, _ last: Int) -> VerifyResult.Range {
        VerifyResult.Range(
            kind: kind, author: "dd", name: "dave", suffix: "d1d2d3", incarnation: "00", first: first, last: last)
    }

    @Test func `that all agree is one line and status 0`() {
        set(peer("bob", .same), peer("carol", .same))

        #expect(
            command("verify")
                == Outcome(
                    status: 0, output: "all 3 hold the same 1234 messages: this host, bob, carol\n", complaints: ""))
    }

    @Test func `two that agree are both`() {
        set(peer("bob", .same))

        #expect(command("verify").output == "both hold the same 1234 messages: this host, bob\n")
    }

    @Test func `each range that differs is a line, and the status is 1`() {
        set(
            peer("bob", .same), peer("carol", .different, range(.lackedThere, 3, 9), range(.lackedHere, 4, 4)),
            peer("erin", .silent), peer("frank", .different, range(.other, 1, 2)))

        let outcome = command("verify")

        #expect(outcome.status == 1)
        #expect(
            outcome.output.split(separator: "\n") == [
                "2 hold the same 1234 messages: this host, bob", "carol lacks 3 to 9 of dave",
                "this host lacks 4 of dave, which carol has", "frank has other messages among 1 to 2 of dave",
                "erin did not answer in time",
            ])
    }

    @Test func `who doesn't answer is named, with status 75, and so is an empty room`() {
        set(peer("bob", .same), peer("carol", .silent))
        #expect(command("verify").status == 75)
        #expect(command("verify").output.hasSuffix("carol did not answer in time\n"))

        set()
        #expect(
            command("verify")
                == Outcome(status: 75, output: "nobody else is linked; this host holds 1234 messages\n", complaints: "")
        )
    }

    @Test func `who has two histories is told`() {
        set(peer("bob", .same), forked: ["m\u{1b}allory (a1b2c3)"])

        let outcome = command("verify")

        #expect(outcome.status == 0)
        #expect(
            outcome.output.hasSuffix(
                "m\\x1ballory (a1b2c3) has two histories under one key: those messages were not compared\n"))
    }

    @Test func `as JSON it is what the daemon said, and the time goes to it in milliseconds`() throws {
        set(peer("bob", .different, range(.other, 1, 2)))

        let outcome = command("verify", "--json", "--timeout", "0.5")

        #expect(outcome.status == 1)
        let result = try JSONDecoder().decode(VerifyResult.self, from: Data(outcome.output.utf8))
        #expect(result == daemon.state.withLock { $0.comparison })
        _ = command("verify")
        #expect(daemon.state.withLock { $0.timeouts } == [500, nil])
        #expect(command("verify", "--timeout", "soon").status == 64)
    }
}
