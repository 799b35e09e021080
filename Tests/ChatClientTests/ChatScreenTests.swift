import ChatModel
import Control
import Testing

@testable import ChatClient

struct ChatScreenTests {
    private static let now = 1_700_000_000_000
    private let minute = Clock.fields(now).minute
    private var screen = ChatScreen(columns: 40, rows: 10)
    private var painter = ScreenPainter()
    private var terminal = TestTerminal(columns: 40, rows: 10)

    init() { screen.rendering.now = { Self.now } }

    private func row(_ text: String) -> LineView {
        LineView(
            direction: .receive, kind: .text, author: "bb", suffix: "bbbbbb", name: "bob", text: text, time: Self.now)
    }

    @discardableResult
    private mutating func feed(_ input: ScreenInput) -> [ScreenEffect] {
        let effects = screen.take(input)
        var lines: [String] = []
        for case .print(let some) in effects { lines += some }
        terminal.feed(painter.paint(lines, screen.bottom, columns: 40))
        return effects
    }

    private mutating func type(_ text: String) -> [ScreenEffect] { feed(.bytes(Array(text.utf8))) }

    @Test mutating func `an incoming line leaves the line being typed whole`() {
        let typed = (0..<100).map { String($0 % 10) }.joined()
        _ = type(typed)
        _ = type(String(repeating: "\u{1b}[D", count: 10))
        let incoming = ["one", "two 한글 한글", "three", String(repeating: "4", count: 50), "five"]

        for text in incoming { feed(.line(row(text))) }

        let everything = terminal.scrollback + terminal.lines
        let prompts = everything.filter { $0.hasPrefix("> ") }
        #expect(prompts.count == 1)
        #expect(!terminal.scrollback.contains { $0.hasPrefix("> ") || $0.contains("0123456789") })
        let transcript = everything.prefix { !$0.hasPrefix("> ") }
        #expect(
            Array(transcript) == [
                "\(minute) bob: one", "\(minute) bob: two 한글 한글", "\(minute) bob: three",
                "\(minute) bob: " + String(repeating: "4", count: 29), String(repeating: "4", count: 21),
                "\(minute) bob: five",
            ])
        #expect(everything.drop { !$0.hasPrefix("> ") }.joined().filter(\.isNumber).hasPrefix(typed))
        // "> " and 90 digits in rows of 39
        #expect(terminal.column == 92 - 2 * 39)
        #expect(terminal.unknown.isEmpty)

        _ = type("X")
        let sent = type("\r")

        #expect(sent == [.send(typed.prefix(90) + "X" + typed.suffix(10))])
        #expect(terminal.lines.filter { $0.hasPrefix(">") } == [">"])
    }

    @Test mutating func `an input higher than the screen never scrolls into the transcript`() {
        _ = type(String(repeating: "x", count: 2000))
        for number in 0..<20 { feed(.line(row("\(number)"))) }
        _ = type("\u{15}")

        let everything = terminal.scrollback + terminal.lines
        #expect(!everything.contains { $0.contains("xx") })
        #expect((0..<20).allSatisfy { everything.contains("\(minute) bob: \($0)") })
    }

    @Test mutating func `the cursor stands right with wide characters`() {
        _ = type("한글🧑‍🌾a")
        _ = type("\u{1b}[D\u{1b}[D")

        #expect(terminal.column == 2 + 4)
    }

    @Test mutating func `a paste of many lines is one message`() {
        let pasted = (1...200).map { "line \($0)" }.joined(separator: "\n")

        _ = type("\u{1b}[200~\(pasted)\u{1b}[201~")
        #expect(type("\r") == [.send(pasted)])
        #expect(type("next\r") == [.send("next")])
    }

    @Test mutating func `the same lines without bracketed paste are as many messages`() {
        let sent = type((1...200).map { "line \($0)\r" }.joined())

        #expect(sent == (1...200).map { .send("line \($0)") })
    }

    @Test mutating func `a text over the limit stays in the line, and the limit is named`() {
        _ = type(String(repeating: "x", count: 16_385))

        #expect(type("\r") == [.print(["* not sent: the text has 16385 bytes; the limit is 16384 bytes"])])
        #expect(type("\u{7f}\r") == [.send(String(repeating: "x", count: 16_384))])
    }

    @Test mutating func `an empty line sends nothing, and Ctrl-D there leaves`() {
        #expect(type("\r") == [])
        #expect(type("a\u{4}\u{1}\u{4}") == [])
        #expect(type("\u{4}") == [.quit(.success)])
    }

    @Test mutating func `Ctrl-C leaves as interrupted`() {
        #expect(type("abc\u{3}") == [.quit(.interrupted)])
    }

    @Test mutating func `commands begin with a slash`() {
        #expect(type("/quit\r") == [.quit(.success)])
        #expect(type("/peers\r") == [.listPeers])
        #expect(type("/image  'my plan.png' \r") == [.sendImage(path: "my plan.png")])
        #expect(type("//etc\r") == [.send("/etc")])
        #expect(type("/etc\r") == [.print(["* no command /etc; /help lists them, and //etc sends it as text"])])
        #expect(type("/image\r") == [.print(["* /image needs a file"])])
    }

    @Test mutating func `up brings the last line back`() {
        _ = type("first\rsec")

        #expect(type("\u{1b}[A\r") == [.send("first")])
    }

    @Test mutating func `a running transfer has a bar above the prompt until it is over`() {
        var view = TransferView(
            transfer: "t", name: "plan.png", direction: .send, completed: 50, total: 100, state: .running,
            peers: [.init(peer: "b", name: "bob", completed: 50, total: 100, state: .running)])
        _ = type("typing")
        feed(.transfer(view))
        feed(.line(row("hi")))

        #expect(terminal.lines[0] == "\(minute) bob: hi")
        #expect(terminal.lines[1].hasPrefix("plan.png -> ") && terminal.lines[1].hasSuffix(" 50%"))
        #expect(terminal.lines[2] == "> typing")

        view.state = .failed
        view.peers[0].state = .failed
        view.peers[0].reason = "40 MiB is over its limit of 32 MiB"
        feed(.transfer(view))

        #expect(terminal.lines[1] == "* plan.png for bob: 40 MiB is over its l")
        #expect(terminal.lines[3] == "> typing")
    }

    @Test mutating func `many bars leave room for the rest`() {
        for number in 0..<30 {
            feed(
                .transfer(
                    TransferView(
                        transfer: "\(number)", name: "f\(number)", direction: .receive, completed: 1, total: 2,
                        state: .running, peers: [])))
        }

        #expect(screen.bottom.rows.count <= 4)
        #expect(screen.bottom.bars.last == "and 28 more")
    }

    @Test mutating func `a narrower window keeps the transcript free of the input`() {
        _ = type(String(repeating: "y", count: 60))
        _ = screen.take(.resized(columns: 20, rows: 10))

        // The terminal has wrapped two rows of 39 and 23 columns into two each, the cursor stands in the last.
        #expect(painter.paint([], screen.bottom, columns: 20).hasPrefix("\u{1b}[3A\r\u{1b}[J"))
    }

    @Test mutating func `a paste that lost its end is usable again`() {
        _ = type("\u{1b}[200~hello")
        #expect(screen.patience == 500)
        _ = feed(.silence)

        #expect(type("abc\r") == [.send("helloabc")])
    }
}
