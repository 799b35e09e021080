import Control
import Foundation
import Glibc
import Testing

/// Which room, which name and which daemon, where the command line doesn't say.
@Suite(.fewAtOnce) struct RememberingTests {
    private let programs = Programs.built
    private let scratch: Scratch
    /// A user's own directories.
    private let environment: [String: String]

    init() throws {
        scratch = try Scratch()
        environment = [
            "HOME": scratch.path, "XDG_STATE_HOME": try scratch.directory("state"),
            "XDG_RUNTIME_DIR": try scratch.directory("run"),
        ]
    }

    private func daemon(_ options: String...) async throws -> Subprocess {
        let daemon = try Subprocess([programs.chatd] + options + LocalPeer.options(.new()), environment: environment)
        _ = try await daemon.errors.line("how to talk through it", within: .seconds(20)) { $0.contains("try: chat ") }
        return daemon
    }

    private func chat(_ words: String..., with more: [String: String] = [:]) async throws -> Outcome {
        try await run([programs.chat] + words, environment: environment.merging(more) { $1 })
    }

    private func end(_ daemon: Subprocess) async throws {
        daemon.signal(SIGTERM)
        #expect(try await daemon.exit(within: .seconds(5)) == .status(0))
    }

    @Test func `chatd alone joins the room of last time under the name of last time`() async throws {
        try await end(try await daemon("--room", "LAB", "--name", "Alice B."))

        let again = try await daemon()

        #expect(again.errors.lines.contains { $0.hasPrefix("chatd: 'Alice B.' (") && $0.contains(") in room 'lab'") })
        #expect(try await chat("send", "hi").exit == .status(0))
        try await end(again)
    }

    @Test func `with a state directory of its own, that remembers`() async throws {
        let options = ["--state-dir", scratch("own")]
        try await end(try await daemon("--state-dir", scratch("own"), "--room", "lab", "--name", "alice"))
        let other = try await run([programs.chatd], environment: environment)
        #expect(other.exit == .status(64))

        let again = try await daemon(options[0], options[1])

        #expect(again.errors.lines.contains { $0.hasPrefix("chatd: 'alice' (") && $0.contains(") in room 'lab'") })
        try await end(again)
    }

    @Test func `with nothing remembered chatd asks which room, and makes nothing`() async throws {
        let outcome = try await run([programs.chatd], environment: environment)

        #expect(outcome.exit == .status(64))
        #expect(outcome.errors == "chatd: which room? Try: chatd --room lab\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch("state")).isEmpty)
    }

    @Test func `what is remembered and makes no sense is as nothing`() async throws {
        for content in ["", "lab", "no room\nalice\n", "lab\n\u{1b}[2J\n"] {
            let own = try scratch.directory("own")
            chmod(own, 0o700)
            try Data(content.utf8).write(to: URL(fileURLWithPath: "\(own)/last"))
            let outcome = try await run([programs.chatd, "--state-dir", own], environment: environment)
            #expect(outcome.exit == .status(64))
            #expect(outcome.errors == "chatd: which room? Try: chatd --room lab\n")
        }
    }

    @Test func `the first name is that of the login`() async throws {
        let daemon = try await daemon("--room", "lab")
        let name = String(cString: getpwuid(geteuid()).pointee.pw_name)
        #expect(daemon.errors.lines.contains { $0.hasPrefix("chatd: '\(name)' (") })
    }

    @Test func `of several daemons the room decides, and with none given they are listed`() async throws {
        let daemons = [
            try await daemon("--room", "lab", "--name", "a"), try await daemon("--room", "ops", "--name", "b"),
        ]

        let undecided = try await chat("send", "hi")
        #expect(undecided.exit == .status(64))
        #expect(undecided.errors == "chat: 2 chatd are running: lab, ops; say which with --room\n")

        #expect(try await chat("--room", "OPS", "send", "to ops").exit == .status(0))
        #expect(try await chat("send", "--room", "ops", "to ops").exit == .status(0))
        #expect(try await chat("send", "to lab", with: ["CHAT_ROOM": "Lab"]).exit == .status(0))
        #expect(try await chat("--room", "ops", "send", "to ops", with: ["CHAT_ROOM": "lab"]).exit == .status(0))
        #expect(try await chat("--room", "ops", "log").output.components(separatedBy: "b: to ops\n").count == 4)
        #expect(try await chat("--room", "lab", "log").output.components(separatedBy: "a: to lab\n").count == 2)

        let none = try await chat("--room", "elsewhere", "send", "hi")
        #expect(none.exit == .status(69))
        #expect(none.errors.hasSuffix("chat: no chatd is running; start one: chatd --room ROOM --name NAME\n"))

        try await end(daemons[1])
        #expect(try await chat("send", "to lab").exit == .status(0))
    }

    @Test func `a state directory may come from the environment, and one that is said counts before it`() async throws {
        let one = try await daemon("--state-dir", scratch("one"), "--room", "lab", "--name", "one")
        let two = try await daemon("--state-dir", scratch("two"), "--room", "lab", "--name", "two")

        let environment = ["CHAT_STATE_DIR": scratch("one")]
        #expect(try await chat("send", "first", with: environment).exit == .status(0))
        #expect(try await chat("--state-dir", scratch("two"), "send", "second", with: environment).exit == .status(0))

        #expect(try await chat("--state-dir", scratch("one"), "log").output.contains("one: first\n"))
        #expect(try await chat("--state-dir", scratch("two"), "log").output.contains("two: second\n"))
        try await end(one)
        try await end(two)
    }

    @Test func `a daemon in another room than the one asked for is refused, and gets nothing`() async throws {
        let daemon = try await daemon("--state-dir", scratch("one"), "--room", "lab", "--name", "one")
        let message = "chat: the chatd in \(scratch("one")) is in room 'lab', not in 'ops'\n"

        for (words, variables) in [
            (["--state-dir", scratch("one"), "--room", "ops", "send", "hi"], [:]),
            (["send", "--room", "ops", "--state-dir", scratch("one"), "hi"], [:]),
            (["send", "hi"], ["CHAT_STATE_DIR": scratch("one"), "CHAT_ROOM": "ops"]),
        ] {
            let outcome = try await run([programs.chat] + words, environment: environment.merging(variables) { $1 })
            #expect(outcome.exit == .status(64))
            #expect(outcome.errors == message)
        }
        #expect(try await chat("--state-dir", scratch("one"), "log").output == "")
        #expect(try await chat("--state-dir", scratch("one"), "--room", "Lab", "send", "hi").exit == .status(0))
        try await end(daemon)
    }

    @Test func `the history of one room is not opened for another`() async throws {
        try await end(try await daemon("--state-dir", scratch("one"), "--room", "lab", "--name", "one"))

        let outcome = try await run(
            [programs.chatd, "--state-dir", scratch("one"), "--room", "ops", "--name", "one"]
                + LocalPeer.options(.new()),
            environment: environment)

        #expect(outcome.exit == .status(64))
        #expect(outcome.errors == "chatd: \(scratch("one"))/history.db is another room's history\n")
        try await end(try await daemon("--state-dir", scratch("one")))
    }
}
