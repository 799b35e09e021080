import Control
import Dispatch
import Glibc

/// `chat` on a terminal: feeds a ``ChatScreen``, paints what it shows, does what it asks for.
final class InteractiveTalk {
    enum Input: Sendable {
        case screen(ScreenInput)
        case inputEnded
        case signal(CInt)
        case resized
        case ended
        case gap
    }

    private let invocation: Invocation
    private let console: Console
    private let mailbox = Mailbox<Input>()
    private var screen: ChatScreen
    private var painter = ScreenPainter()
    private var unpainted: [String] = []
    private var lastBytes = DispatchTime.now()

    init(_ invocation: Invocation) {
        self.invocation = invocation
        console = invocation.console
        let size = console.size
        screen = ChatScreen(columns: size.columns, rows: size.rows)
    }

    /// Puts the terminal back on every way out.
    func run() throws -> ExitStatus {
        let daemon = try connect()
        screen.rendering.names = try daemon.names()
        let rows = try daemon.client.call(.watch, LogParameters(count: 20)).lines
        for row in rows { screen.rendering.note(row) }
        guard let terminal = RawTerminal(console.input) else { throw CommandFailure(.software, "no terminal") }
        let signals = SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [mailbox] in mailbox.put(.signal($0)) }
        let resizes = SignalWatch([SIGWINCH]) { [mailbox] _ in mailbox.put(.resized) }
        let guardian = CrashGuard(console, mode: terminal.before)
        defer {
            try? console.write(painter.erase(columns: console.size.columns) + ScreenPainter.finish)
            terminal.restore()
            guardian.stop()
            signals.stop()
            resizes.stop()
        }
        try console.write(ScreenPainter.start)
        let pump = try InputPump(console.input) { [mailbox] bytes in
            mailbox.put(bytes.isEmpty ? .inputEnded : .screen(.bytes(bytes)))
        }
        defer { pump.stop() }
        return try loop(daemon.client, pump, rows)
    }

    private func connect() throws -> Daemon {
        try invocation.connect { [mailbox] event in
            switch event {
            case .notification(.line(let line)): mailbox.put(.screen(.line(line)))
            case .notification(.update(let line)): mailbox.put(.screen(.update(line)))
            case .notification(.transfer(let view)): mailbox.put(.screen(.transfer(view)))
            case .notification(.gap): mailbox.put(.gap)
            case .ended: mailbox.put(.ended)
            }
        }
    }

    private func loop(_ client: ControlClient, _ pump: InputPump, _ rows: [LineView]) throws -> ExitStatus {
        for row in rows { _ = try perform(screen.take(.line(row)), client) }
        while true {
            try paint()
            var next = mailbox.take(within: remainingPatience()) ?? .screen(.silence)
            // All that is here is taken before painting once.
            while true {
                if let status = try take(next, client, pump) { return status }
                guard let more = mailbox.take(within: 0) else { break }
                next = more
            }
        }
    }

    /// Bytes of a key or a paste that is open may come for so long yet; what else happens doesn't count.
    private func remainingPatience() -> Int? {
        guard let patience = screen.patience else { return nil }
        let elapsed = (DispatchTime.now().uptimeNanoseconds - lastBytes.uptimeNanoseconds) / 1_000_000
        return max(0, patience - Int(elapsed))
    }

    /// - Returns: A status when it is time to leave.
    private func take(_ input: Input, _ client: ControlClient, _ pump: InputPump) throws -> ExitStatus? {
        switch input {
        case .screen(let input):
            if case .bytes = input {
                lastBytes = .now()
                pump.proceed()
            }
            return try perform(screen.take(input), client)
        case .resized:
            let size = console.size
            return try perform(screen.take(.resized(columns: size.columns, rows: size.rows)), client)
        case .inputEnded: return .success
        case .signal(SIGINT): return .interrupted
        case .signal(let number): throw Killed(signal: number)
        case .ended: throw CommandFailure(.unavailable, "chatd went away")
        case .gap: throw CommandFailure(.tryAgain, "the terminal was too slow; some lines are missing")
        }
    }

    private func perform(_ effects: [ScreenEffect], _ client: ControlClient) throws -> ExitStatus? {
        for effect in effects {
            switch effect {
            case .print(let lines): unpainted += lines
            case .send(let text): send(text, client)
            case .sendImage(let path): sendImage(path, client)
            case .listPeers: listPeers(client)
            case .redraw:
                try console.write(painter.erase(columns: console.size.columns) + "\u{1b}[H\u{1b}[2J")
            case .quit(let status):
                try paint()
                return status
            }
        }
        return nil
    }

    private func paint() throws {
        try console.write(painter.paint(unpainted, screen.bottom, columns: console.size.columns))
        unpainted = []
    }

    // MARK: To the daemon; answers come back by the mailbox

    private func send(_ text: String, _ client: ControlClient) {
        client.request(.send, SendParameters(text: text)) { [mailbox] result in
            if case .failure(let failure) = result { mailbox.put(.screen(.note("not sent: \(failure.message)"))) }
        }
    }

    private func sendImage(_ path: String, _ client: ControlClient) {
        let home = invocation.environment["HOME"] ?? ""
        let file: ImageFile
        do throws(CommandFailure) {
            file = try ImageFile(path.hasPrefix("~/") ? home + path.dropFirst() : path)
        } catch {
            return mailbox.put(.screen(.note(error.message)))
        }
        client.request(.sendImage, SendImageParameters(name: file.name), descriptor: file.descriptor) { [mailbox] in
            if case .failure(let failure) = $0 { mailbox.put(.screen(.note("not sent: \(failure.message)"))) }
        }
    }

    private func listPeers(_ client: ControlClient) {
        client.request(.peers, NoFields()) { [mailbox] result in
            switch result {
            case .success(let answer): mailbox.put(.screen(.peers(answer.peers)))
            case .failure(let failure): mailbox.put(.screen(.note(failure.message)))
            }
        }
    }
}

/// A signal asked us to end; the status is 128 and its number, as shells count.
struct Killed: Error {
    let signal: CInt
}
