import Control
import Testing

struct CommandLineTests {
    private let command = Command()

    @Test func `a word that is no command gets the way to send it`() {
        #expect(
            command("hello", "wor'ld")
                == Outcome(
                    status: 64, output: "",
                    complaints:
                        "chat: no command 'hello'; to send it: chat send hello 'wor'\\''ld'\ntry 'chat --help'\n"))
    }

    @Test func `help of a command is what it says itself`() {
        #expect(command("help") == command("--help"))
        #expect(command("help", "verify") == command("verify", "--help"))
        #expect(command("help", "bogus").complaints == "chat: no command 'bogus'\ntry 'chat --help'\n")
        #expect(command("help", "me", "please").status == 64)
    }

    @Test(arguments: [[], ["send"], ["send-image"], ["log"], ["peers"], ["delivery"], ["verify"]])
    func `every command has help and version`(words: [String]) {
        let help = command.run(words + ["--help"], input: [])
        #expect(help.status == 0)
        #expect(help.output.hasPrefix("usage: " + (["chat"] + words).joined(separator: " ")))
        #expect(help.output.contains("--state-dir DIR"))

        #expect(
            command.run(words + ["--version"], input: []) == Outcome(status: 0, output: "chat 0.1.0\n", complaints: ""))
    }

    @Test(arguments: [
        (["send"], "chat: no text; to send lines of the standard input: chat send -\ntry 'chat send --help'\n"),
        (["send", "--bogus"], "chat: unknown option '--bogus'\ntry 'chat send --help'\n"),
        (["send", ""], "chat: the text is empty\ntry 'chat send --help'\n"),
        (["send-image"], "chat: no file\ntry 'chat send-image --help'\n"),
        (["log", "-n", "x"], "chat: 'x' is not a number of lines\ntry 'chat log --help'\n"),
        (["log", "extra"], "chat: unexpected 'extra'\ntry 'chat log --help'\n"),
        (["peers", "\u{1b}[2J"], "chat: unexpected '\\x1b[2J'\ntry 'chat peers --help'\n"),
        (["--bogus"], "chat: unknown option '--bogus'\ntry 'chat --help'\n"),
    ])
    func `a wrong command line is two lines and 64`(words: [String], complaint: String) {
        #expect(command.run(words, input: []) == Outcome(status: 64, output: "", complaints: complaint))
    }

    @Test func `without a daemon it waits, says so, and ends with 69`() {
        var command = command
        command.environment = ["CHAT_STATE_DIR": "/tmp/none-of-ours"]
        command.patience.notice = 20
        command.patience.limit = 50
        command.patience.pause = 5

        #expect(
            command("send", "hi")
                == Outcome(
                    status: 69, output: "",
                    complaints:
                        "chat: waiting for chatd\n"
                        + "chat: no chatd is running; start one: chatd --room ROOM --name NAME\n"))
    }
}
