import Control
import Foundation
import Locking
import Testing

@testable import ChatClient

struct DeliveryCommandTests {
    private let daemon: FakeDaemon
    private let command: Command

    init() throws {
        daemon = try FakeDaemon()
        command = Command(daemon)
    }

    private static func view(_ states: [(name: String, isStored: Bool, isMember: Bool)]) -> DeliveryView {
        let peers = states.map { state in
            DeliveryView.Peer(
                peer: "\(state.name)", name: state.name, suffix: "a1b2c3", state: state.isStored ? .stored : .pending,
                isMember: state.isMember, presence: state.name == "carol" ? .away : .connected,
                since: state.name == "carol" ? 1_000_000_000_000 : nil)
        }
        let members = peers.filter(\.isMember)
        let counted = members.isEmpty ? peers : members
        return DeliveryView(
            id: "id1", author: "aa",
            count: DeliveryCountView(stored: counted.count { $0.state == .stored }, members: counted.count),
            peers: peers)
    }

    private let half = view([("bob", true, true), ("carol", false, true)])
    private let whole = view([("bob", true, true), ("carol", true, true)])

    // MARK: The table

    @Test func `the table says who has it, who hasn't and why, and who came later`() {
        daemon.state.withLock {
            $0.delivery = Self.view([
                ("bob", true, true), ("carol", false, true), ("dave", false, true), ("erin", true, false),
            ])
        }

        let lines = command("delivery", "00").output.split(separator: "\n").map(String.init)

        #expect(lines[0] == "stored by 1 of 3")
        #expect(lines[1] == "  bob    stored")
        #expect(lines[2].hasPrefix("  carol  pending  away since 2001-09-09 "))
        #expect(lines[3] == "  dave   pending  connected")
        #expect(lines[4] == "  erin   stored   it came later")
        #expect(lines.count == 5)
    }

    @Test func `who was never met is reached through others, and another's message is that other's to follow`() {
        var view = Self.view([("dave", false, true), ("erin", false, true)])
        view.peers[0].presence = .away
        view.peers[1].state = .unknown
        daemon.state.withLock { $0.delivery = view }

        let lines = command("delivery", "00").output.split(separator: "\n").map(String.init)

        #expect(
            lines == [
                "stored by 0 of 2", "  dave  pending  not linked with this host", "  erin  unknown  its author is told",
            ])
    }

    @Test func `as JSON it is what the daemon said, and with nobody there one line says so`() throws {
        daemon.state.withLock { $0.delivery = half }
        let output = command("delivery", "--json", "00").output
        #expect(try JSONDecoder().decode(DeliveryView.self, from: Data(output.utf8)) == half)

        daemon.state.withLock { $0.delivery = Self.view([]) }
        #expect(command("delivery", "00").output == "stored here; nobody else was in the room yet\n")
    }

    @Test func `without an id it is the newest message sent from here`() {
        daemon.state.withLock { $0.delivery = whole }
        #expect(command("delivery").status == 64)

        daemon.say(FakeDaemon.line("hi", name: "alice", author: "aa", id: "00"))
        #expect(command("delivery").output.hasPrefix("stored by 2 of 2\n"))
        #expect(daemon.state.withLock { $0.pages.last?.from } == "aa")
    }

    @Test func `own lines of the log say by how many they are stored, and how that may look isn't theirs to choose`() {
        var line = FakeDaemon.line("lunch?\nnow", name: "alice", author: "aa")
        line.delivery = DeliveryCountView(stored: 3, members: 4)
        daemon.say(line)
        line.delivery = DeliveryCountView(stored: 0, members: 0)
        line.text = "alone"
        daemon.say(line)

        let lines = command("log").output.split(separator: "\n")

        #expect(lines.map { $0.dropFirst(6) } == ["alice: lunch?", "now  3/4", "alice: alone"])
    }

    // MARK: Waiting

    @Test(arguments: [
        ("all", "bob", false), ("all", "bob carol", true), ("any", "", false), ("any", "bob", true),
        ("1", "carol", true),
        ("2", "bob", false), ("2", "bob carol", true), ("3", "bob carol", false), ("all", "", false),
    ])
    func `what is waited for is met when enough have it`(wanted: String, stored: String, isMet: Bool) {
        let view = Self.view(["bob", "carol"].map { ($0, stored.contains($0), true) })

        #expect(WantedDelivery(wanted)?.isMet(by: view) == isMet)
        #expect(WantedDelivery("all")?.isMet(by: Self.view([])) == false)
        #expect(WantedDelivery("all")?.isMet(by: Self.view([("bob", true, false)])) == true)
    }

    @Test func `it waits until all have it, and then is silent`() {
        let daemon = daemon
        daemon.state.withLock { $0.delivery = half }
        Thread.detachNewThread { [whole] in
            _ = eventually { daemon.state.withLock { !$0.waiting.isEmpty } }
            daemon.deliver(whole)
        }

        #expect(
            command("send", "--wait", "all", "--print-id", "hi") == Outcome(status: 0, output: "id1\n", complaints: ""))
    }

    @Test func `when the time is over it is status 75, and says who doesn't have it`() {
        daemon.state.withLock { $0.delivery = half }

        let outcome = command("send", "--wait", "all", "--timeout", "0.05", "hi")

        #expect(outcome.status == 75)
        #expect(
            outcome.complaints.hasPrefix("chat: stored here; 1 of 2 have it, not yet carol (away since 2001-09-09 "))
        #expect(command("send", "--wait", "any", "--timeout", "0", "hi").status == 0)
        #expect(command("send", "--wait", "2", "--timeout", "0", "hi").status == 75)
    }

    @Test func `it says for whom it waits when that takes long`() {
        let daemon = daemon
        daemon.state.withLock { $0.delivery = half }

        let outcome = command("send", "--wait", "2", "--timeout", "2.5", "hi")

        #expect(outcome.complaints.split(separator: "\n").count == 2)
        #expect(outcome.complaints.hasPrefix("stored; 1 of 2 have it, not yet carol (away since "))
    }

    @Test func `lines of the input are waited for together`() {
        daemon.state.withLock { $0.delivery = whole }

        let outcome = command("send", "--wait", "all", "--print-id", "-", input: Array("a\nb\n".utf8))

        #expect(outcome == Outcome(status: 0, output: "id1\nid2\n", complaints: ""))
        #expect(daemon.state.withLock { $0.waiting.count } == 1)
    }

    @Test(arguments: [
        (["--wait", "some", "hi"], "'some' is not all, any or a number of hosts"),
        (["--wait", "0", "hi"], "'0' is not all, any or a number of hosts"),
        (["--wait", "all", "--timeout", "soon", "hi"], "'soon' is not a number of seconds"),
        (["--wait", "all", "--timeout", "-1", "hi"], "'-1' is not a number of seconds"),
        (["--timeout", "1", "hi"], "--timeout goes with --wait"),
    ])
    func `what can't be waited for is status 64, and nothing is sent`(words: [String], complaint: String) {
        let outcome = command.run(["send"] + words, input: [])

        #expect(outcome.status == 64)
        #expect(outcome.complaints == "chat: \(complaint)\ntry 'chat send --help'\n")
        #expect(daemon.state.withLock { $0.texts.isEmpty })
    }

    @Test func `a daemon that goes away while it waits is status 69`() {
        let daemon = daemon
        daemon.state.withLock { $0.delivery = half }
        Thread.detachNewThread {
            _ = eventually { daemon.state.withLock { !$0.waiting.isEmpty } }
            daemon.stop()
        }

        #expect(command("send", "--wait", "all", "hi").status == 69)
    }
}
