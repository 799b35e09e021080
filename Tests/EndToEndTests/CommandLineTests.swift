import Foundation
import Glibc
import Testing

/// Command lines that are wrong, or ask for no more than help; each is one or two lines and a status (sysexits(3)).
@Suite(.fewAtOnce) struct CommandLineTests {
    private let programs = Programs.built

    @Test(arguments: [
        ["chatd"], ["chat"], ["chat", "send"], ["chat", "send-image"], ["chat", "log"], ["chat", "peers"],
    ])
    func `every command prints its help and its version`(command: [String]) async throws {
        let words = ["\(programs.directory)/\(command[0])"] + command.dropFirst()

        let help = try await run(words + ["--help"])
        let version = try await run(words + ["--version"])

        #expect(help.exit == .status(0))
        #expect(help.errors == "")
        #expect(help.output.hasPrefix("usage: \(command.joined(separator: " ")) "))
        #expect(help.output.contains("--help") && help.output.contains("--version"))
        #expect(version.exit == .status(0))
        #expect(version.errors == "")
        #expect(version.lines.count == 1)
        #expect(version.output.hasPrefix("\(command[0]) 0."))
    }

    @Test(
        arguments: [
            (["--bogus"], "unknown option '--bogus'", "chat --help"),
            (["-x"], "unknown option '-x'", "chat --help"),
            (["--state-dir"], "option '--state-dir' needs a value", "chat --help"),
            (["send", "--bogus", "hi"], "unknown option '--bogus'", "chat send --help"),
            (["send"], "no text; to send lines of the standard input: chat send -", "chat send --help"),
            (["send", ""], "the text is empty", "chat send --help"),
            (["send", "--nonce", "12", "hi"], "'12' is no nonce; one has 32 hexadecimal digits", "chat send --help"),
            (["send-image"], "no file", "chat send-image --help"),
            (["send-image", "--bogus"], "unknown option '--bogus'", "chat send-image --help"),
            (["log", "-n", "some"], "'some' is not a number of lines", "chat log --help"),
            (["log", "-n", "-1"], "'-1' is not a number of lines", "chat log --help"),
            (["log", "extra"], "unexpected 'extra'", "chat log --help"),
            (["peers", "extra"], "unexpected 'extra'", "chat peers --help"),
            (["peers", "--json=yes"], "option '--json' takes no value", "chat peers --help"),
            (["hello"], "no command 'hello'; to send it: chat send hello", "chat --help"),
            (["hello", "you there"], "no command 'hello'; to send it: chat send hello 'you there'", "chat --help"),
        ])
    func `a wrong command line of chat is status 64 and says where help is`(
        words: [String], message: String, help: String
    ) async throws {
        let outcome = try await run([programs.chat] + words)

        #expect(outcome.exit == .status(64))
        #expect(outcome.errors == "chat: \(message)\ntry '\(help)'\n")
        #expect(outcome.output == "")
    }

    @Test(
        arguments: [
            (["--bogus"], "unknown option '--bogus'"),
            (["lab"], "'lab' is not an option"),
            (["--room"], "option '--room' needs a value"),
            (["--discovery", "dns"], "--discovery is one of auto, avahi, embedded, none"),
            (
                ["--peer", "nowhere"],
                "--peer: 'nowhere' is not HOST:PORT, such as 10.0.0.7:7311 or [fe80::1%eth0]:7311"
            ),
            (
                ["--peer", "here:70000"],
                "--peer: 'here:70000' is not HOST:PORT, such as 10.0.0.7:7311 or [fe80::1%eth0]:7311"
            ),
            (["--listen", "7311"], "--listen needs ADDR:PORT, such as [::]:7311 or 10.0.0.7:0"),
            (["--listen", "nowhere:7311"], "--listen: 'nowhere' is no address"),
            (["--auto-fetch", "much"], "--auto-fetch needs a size, such as 32M"),
            (["--auto-fetch", "-1"], "--auto-fetch needs a size, such as 32M"),
            (["--state-dir="], "--state-dir needs a path"), (["--downloads", ""], "--downloads needs a path"),
        ])
    func `a wrong command line of chatd is status 64 and says where help is`(
        words: [String], message: String
    ) async throws {
        let outcome = try await run([programs.chatd] + words)

        #expect(outcome.exit == .status(64))
        #expect(outcome.errors == "chatd: \(message)\ntry 'chatd --help'\n")
    }

    @Test func `words that are not UTF-8 are status 65 in both programs, and nothing is made of them`() async throws {
        let scratch = try Scratch()
        let chat = try await run(["bash", "-c", "exec \"$0\" send $'caf\\xe9'", programs.chat])
        let name = try await run(
            [
                "bash", "-c", "exec \"$0\" --state-dir \"$1\" --room lab --name $'caf\\xe9'", programs.chatd,
                scratch("state"),
            ])

        #expect(chat.exit == .status(65))
        #expect(chat.errors == "chat: argument 2 is not UTF-8\n")
        #expect(name.exit == .status(65))
        #expect(name.errors == "chatd: argument 6 is not UTF-8\n")
        #expect(!FileManager.default.fileExists(atPath: scratch("state")))
    }

    @Test(arguments: [
        ["send", "hi"], ["send", "-"], ["send-image", "picture.png"], ["log"], ["log", "--follow"], ["peers"], [],
    ])
    func `without a daemon every command waits, says so, and says how to start one`(words: [String]) async throws {
        let scratch = try Scratch()
        let file = try scratch.file("picture.png", picture(100))
        let words = words.map { $0 == "picture.png" ? file : $0 }

        let outcome = try await run([programs.chat, "--state-dir", scratch("state")] + words, input: "hi\n")

        #expect(outcome.exit == .status(69))
        #expect(
            outcome.errors == """
                chat: waiting for chatd
                chat: no chatd is running; start one: chatd --room ROOM --name NAME

                """)
        #expect(outcome.duration >= .seconds(3))
        #expect(outcome.duration < .seconds(3) + promised(.seconds(1)))
    }

    @Test func `a name takes 63 bytes, however many letters that is, and not one more`() async throws {
        let family = "👨‍👩‍👧‍👦"
        for name in [
            String(repeating: "a", count: 64), String(repeating: "é", count: 32), String(repeating: family, count: 5),
        ] {
            let scratch = try Scratch()
            let outcome = try await run(
                [programs.chatd, "--state-dir", scratch("state"), "--room", "lab", "--name", name])
            #expect(outcome.exit == .status(64))
            #expect(outcome.errors == "chatd: the name has \(name.utf8.count) bytes; the limit is 63\n")
            #expect(!FileManager.default.fileExists(atPath: scratch("state")))
        }
        let empty = try await run([programs.chatd, "--room", "lab", "--name", ""])
        #expect(empty.exit == .status(64))
        #expect(empty.errors == "chatd: the name is empty; a name has 1 to 63 bytes\n")
    }

    @Test(
        arguments: [
            ("sixteen-letters-", "room 'sixteen-letters-' has 16 characters; the limit is 15"),
            ("sixteen-letters1", "room 'sixteen-letters1' has 16 characters; the limit is 15"),
            ("no way", "room 'no way': use letters, digits and single hyphens between them, with at least one letter"),
            ("a--b", "room 'a--b': use letters, digits and single hyphens between them, with at least one letter"),
            ("42", "room '42': use letters, digits and single hyphens between them, with at least one letter"),
            ("café", "room 'café': use letters, digits and single hyphens between them, with at least one letter"),
            ("", "a room's name has 1 to 15 characters"),
        ])
    func `a room that can't be is status 64 in both programs`(room: String, message: String) async throws {
        let scratch = try Scratch()
        let daemon = try await run([programs.chatd, "--state-dir", scratch("state"), "--room", room, "--name", "alice"])
        let client = try await run(
            [programs.chat, "--room", room, "send", "hi"], environment: ["XDG_STATE_HOME": scratch.path])

        #expect(daemon.exit == .status(64))
        #expect(daemon.errors == "chatd: \(message)\n")
        #expect(client.exit == .status(64))
        #expect(client.errors == "chat: \(message)\n")
        #expect(!FileManager.default.fileExists(atPath: scratch("state")))
    }

    @Test func `what is asked of help or version with nobody reading ends quietly`() async throws {
        for program in [programs.chat, programs.chatd] {
            let outcome = try await run(["bash", "-c", "\"$0\" --help | true; echo ${PIPESTATUS[0]}", program])
            #expect(["0\n", "141\n"].contains(outcome.output))
            #expect(outcome.errors == "")
        }
    }
}
