import Control
import Testing

struct OptionTableTests {
    private static let peer = CommandOption("peer", value: "HOST:PORT", isRepeatable: true, help: "Dial this too")
    private static let count = CommandOption("count", letter: "n", value: "N", help: "How many")
    private static let quiet = CommandOption("quiet", help: "Say less")
    private let table = OptionTable(
        "chat send", summary: "Send a text", operands: "TEXT...", options: [peer, count, quiet], notes: ["A note."])

    @Test func `parsing stops at the first operand`() throws {
        let parsed = try table.parse(["--quiet", "hello", "--count", "3"])

        #expect(parsed.has(Self.quiet))
        #expect(!parsed.has(Self.count))
        #expect(parsed.operands == ["hello", "--count", "3"])
    }

    @Test func `two hyphens end the options`() throws {
        #expect(try table.parse(["--", "--quiet"]).operands == ["--quiet"])
    }

    @Test func `one hyphen is an operand`() throws {
        #expect(try table.parse(["-"]).operands == ["-"])
    }

    @Test(arguments: [["--count=3"], ["--count", "3"], ["-n", "3"], ["-n3"]])
    func `a value may be attached or follow`(words: [String]) throws {
        #expect(try table.parse(words)[Self.count] == "3")
    }

    @Test func `a value may be empty or look like an option`() throws {
        #expect(try table.parse(["--count="])[Self.count] == "")
        #expect(try table.parse(["--count", "--quiet"])[Self.count] == "--quiet")
    }

    @Test func `all values of a repeated option are kept in order`() throws {
        #expect(try table.parse(["--peer", "a:1", "--peer=b:2"]).all(Self.peer) == ["a:1", "b:2"])
    }

    @Test(arguments: [
        (["--bogus"], "unknown option '--bogus'"), (["-x"], "unknown option '-x'"),
        (["--count"], "option '--count' needs a value"), (["--quiet=1"], "option '--quiet' takes no value"),
        (["--\u{1b}[2J"], "unknown option '--?[2J'"),
    ])
    func `a wrong command line names what is wrong and where help is`(words: [String], message: String) {
        #expect(throws: UsageError(message, help: "chat send --help")) { try table.parse(words) }
    }

    @Test func `a usage error is printed in two lines`() {
        #expect(table.error("no text").lines(program: "chat") == "chat: no text\ntry 'chat send --help'")
    }

    @Test func `help names every option with its value`() {
        #expect(
            table.help == """
                usage: chat send [OPTIONS] TEXT...
                Send a text.

                Options:
                  --peer HOST:PORT  Dial this too
                  -n, --count N     How many
                  --quiet           Say less
                  --help            Print this help
                  --version         Print the version

                A note.

                """)
    }
}
