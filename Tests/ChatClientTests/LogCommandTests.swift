import Control
import Foundation
import Locking
import Testing

@testable import ChatClient

struct LogCommandTests {
    private let daemon: FakeDaemon
    private let command: Command

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    private func asked(_ words: String...) throws -> LogParameters {
        try LogCommand.parameters(try ClientOptions.log.parse(words), now: 1_000_000_000_000)
    }

    private func texts(_ output: String) throws -> [String?] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(LineView.self, from: Data($0.utf8)).text }
    }

    @Test func `without a count the newest twenty are asked for, since a time all of them`() throws {
        #expect(try asked() == LogParameters(count: 20))
        #expect(try asked("--from", "bob").count == 20)
        #expect(try asked("--since", "2h").count == 1_000_000)
        #expect(try asked("--since", "2h", "-n", "3").count == 3)
        #expect(try asked("--after", "c").count == 1_000_000)
        #expect(try asked("--until", "2h").count == 20)
    }

    @Test func `times go to the daemon in milliseconds, and until has the whole of what it names`() throws {
        let wanted = try asked("--since", "1h", "--until", "2001-09-09", "--from", "b b")

        #expect(wanted.since == 1_000_000_000_000 - 3_600_000)
        #expect(wanted.until == TimeWord("2001-09-09", now: 0)?.last)
        #expect(wanted.from == "b b")
    }

    @Test(arguments: [
        (["--since", "soon"], "'soon' is no time, such as 10:30, 2026-11-30, 2026-11-30T10:30, 2h or yesterday"),
        (["--since", "today", "--until", "2020-01-01"], "--since is later than --until"),
        (["--follow", "--until", "now"], "--follow has no end: leave out --until"),
        (["--follow", "--after", "1", "-n", "3"], "--follow --after prints all there is: leave out -n"),
    ])
    func `what can't be meant is status 64 and says why`(words: [String], complaint: String) {
        let outcome = command.run(["log"] + words, input: [])

        #expect(outcome.status == 64)
        #expect(outcome.complaints == "chat: \(complaint)\ntry 'chat log --help'\n")
    }

    @Test func `after a cursor everything comes, a part at a time`() throws {
        for number in 1...2_500 { daemon.say(FakeDaemon.line("line \(number)")) }

        let output = command("log", "--after", "100", "--json").output

        #expect(try texts(output) == (101...2_500).map { "line \($0)" })
        #expect(daemon.state.withLock { $0.pages.map(\.after) } == ["100", "1100", "2100"])
        #expect(try texts(command("log", "--after", "100", "-n", "1001", "--json").output).count == 1_001)
    }

    @Test(arguments: [["--since", "1h"], ["-n", "2300"]])
    func `a long listing is read from its end a part at a time, and printed in order`(words: [String]) throws {
        for number in 1...2_500 {
            // What this host says has no id, and comes with the line behind it.
            let digits = String(repeating: "0", count: 60) + String(number + 1_000)
            daemon.say(FakeDaemon.line("line \(number)", id: number.isMultiple(of: 500) ? nil : digits))
        }
        let count = words[0] == "-n" ? 2_300 : 2_500

        let output = command.run(["log", "--json"] + words, input: []).output

        #expect(try texts(output) == (2_501 - count...2_500).map { "line \($0)" })
        #expect(daemon.state.withLock { $0.pages.allSatisfy { $0.count <= 1_000 } && $0.pages.count == 3 })
    }

    @Test func `following after a cursor goes on with what comes, without a gap`() throws {
        let daemon = daemon
        for number in 1...1_500 { daemon.say(FakeDaemon.line("line \(number)")) }
        Thread.detachNewThread {
            _ = eventually { daemon.state.withLock { !$0.watchers.isEmpty } }
            daemon.say(FakeDaemon.line("new"))
            daemon.stop()
        }

        let outcome = command("log", "--follow", "--after", "0", "--json")

        #expect(try texts(outcome.output) == (1...1_500).map { "line \($0)" } + ["new"])
        #expect(outcome.status == 69)
        #expect(daemon.state.withLock { $0.watchers.count } == 1)
    }

    @Test func `a foreign cursor has a status of its own`() {
        daemon.state.withLock { $0.refusal = ControlError(.foreignCursor, "the cursor is of another history") }

        #expect(
            command("log", "--after", "1")
                == Outcome(status: 76, output: "", complaints: "chat: the cursor is of another history\n"))
    }
}
