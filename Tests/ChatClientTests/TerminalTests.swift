import Control
import Foundation
import Glibc
import Locking
import Testing

/// The real program on a real terminal.
struct TerminalTests {
    private let daemon: FakeDaemon

    init() throws { daemon = try FakeDaemon() }

    private func start() throws -> TerminalSession {
        try TerminalSession([], ["CHAT_STATE_DIR": daemon.place.path, "TERM": "xterm-256color", "TZ": "UTC"])
    }

    enum Ending: String, CaseIterable {
        case quit, endOfInput, interruptKey, interrupt, terminate, hangUp, daemonDeath, crash
    }

    @Test(arguments: Ending.allCases)
    func `every way out leaves the terminal as it was`(ending: Ending) throws {
        let session = try start()
        let before = session.mode
        #expect(session.shows("\u{1b}[?2004h"))
        #expect(session.shows("> "))
        #expect(session.mode != before)
        session.type(ending == .endOfInput ? "" : "\u{1b}[200~half a paste\u{1b}[201~")

        switch ending {
        case .quit: session.type("\u{15}/quit\r")
        case .endOfInput: session.type("\u{4}")
        case .interruptKey: session.type("\u{3}")
        case .interrupt: kill(session.process, SIGINT)
        case .terminate: kill(session.process, SIGTERM)
        case .hangUp: kill(session.process, SIGHUP)
        case .daemonDeath: daemon.stop()
        case .crash: kill(session.process, SIGSEGV)
        }

        let expected: [Ending: CInt] = [
            .quit: 0, .endOfInput: 0, .interruptKey: 130, .interrupt: 130, .terminate: 143, .hangUp: 129,
            .daemonDeath: 69, .crash: -SIGSEGV,
        ]
        #expect(session.status() == expected[ending])
        #expect(session.shows("\u{1b}[?2004l\u{1b}[?25h"))
        #expect(session.mode == before)
    }

    @Test func `an incoming line does not tear up the line being typed`() throws {
        let session = try start()
        #expect(session.shows("> "))
        let typed = (0..<100).map { String($0 % 10) }.joined()
        session.type(typed + String(repeating: "\u{1b}[D", count: 10))
        // The last row of the input, and the cursor ten columns before its end.
        #expect(session.shows("\(typed.suffix(24))\r\u{1b}[14C"))

        for text in ["one", "two 한글", "three", "four", "five"] { daemon.say(FakeDaemon.line(text)) }
        #expect(session.shows("five"))
        session.type("X\r")

        #expect(eventually { daemon.state.withLock { $0.texts } == [typed.prefix(90) + "X" + typed.suffix(10)] })
        #expect(session.shows(" alice: "))
        var terminal = TestTerminal(columns: 40, rows: 10)
        terminal.feed(session.output)
        let everything = terminal.scrollback + terminal.lines
        for text in ["one", "two 한글", "three", "four", "five"] {
            #expect(everything.filter { $0.hasSuffix(" bob: \(text)") }.count == 1)
        }
        #expect(everything.filter { $0.hasPrefix(">") } == [">"])
        #expect(terminal.unknown.isEmpty)
    }

    @Test func `a paste is one message, and typing goes on after one that lost its end`() throws {
        let session = try start()
        #expect(session.shows("> "))

        session.type("\u{1b}[200~one\rtwo\u{1b}[201~\r")
        #expect(eventually { daemon.state.withLock { $0.texts } == ["one\ntwo"] })
        session.type("\u{1b}[200~hello")
        #expect(session.shows("> hello"))
        session.type("abc\r")

        #expect(eventually { daemon.state.withLock { $0.texts } == ["one\ntwo", "helloabc"] })
    }

    @Test func `a dumb terminal gets no escape`() throws {
        let session = try TerminalSession([], ["CHAT_STATE_DIR": daemon.place.path, "TERM": "dumb"])
        #expect(eventually { daemon.state.withLock { !$0.watchers.isEmpty } })

        session.type("hi\n")

        #expect(eventually { daemon.state.withLock { $0.texts } == ["hi"] })
        #expect(session.shows("alice: hi"))
        #expect(!session.output.contains("\u{1b}"))
    }

    @Test func `Ctrl-C detaches from a transfer that goes on`() throws {
        let image = "\(daemon.directory.path)/plan.png"
        try "bytes".write(toFile: image, atomically: false, encoding: .utf8)
        daemon.state.withLock {
            $0.transfer = TransferView(
                transfer: "t", name: "plan.png", direction: .send, completed: 50, total: 100, state: .running,
                peers: [.init(peer: "b", name: "bob", completed: 50, total: 100, state: .running)])
        }
        let session = try TerminalSession(
            ["send-image", image], ["CHAT_STATE_DIR": daemon.place.path, "TERM": "xterm"], columns: 80)
        #expect(session.shows("plan.png -> bob"))
        #expect(session.shows(" 50%"))

        session.type("\u{3}")

        #expect(session.status() == 130)
        #expect(session.shows("chat: detached; the transfer goes on"))
    }
}
