import Control
import Dispatch
import Glibc
import Locking
import Rx

/// `chat` on a terminal: feeds a ``TalkModel``, paints what it shows, does what it asks for.
final class InteractiveTalk {
    enum Input: Sendable {
        case screen(ScreenInput)
        case inputEnded
        case terminal(TerminalEvent)
        case ended
        case gap
    }

    /// What the model's chains have said and nobody has looked at yet.
    private struct Said: Sendable {
        var lines: [String] = []
        var bars: [String] = []
        var input: InputArea
        var patience: Int?
        var isRedrawn = false
        var status: ExitStatus?
    }

    private let invocation: Invocation
    private let console: Console
    private let mailbox = Mailbox<Input>()
    private let inputs = PublishSubject<ScreenInput>()
    private let said: Locked<Said>
    private let bag = DisposeBag()
    private var screen: ChatScreen
    private var painter = ScreenPainter()
    private var lastBytes = DispatchTime.now()

    init(_ invocation: Invocation) {
        self.invocation = invocation
        console = invocation.console
        let size = console.size
        screen = ChatScreen(columns: size.columns, rows: size.rows)
        said = Locked(Said(input: screen.bottom.input))
    }

    func run() throws -> ExitStatus {
        let daemon = try connect()
        screen.rendering.names = try daemon.names()
        let rows = try daemon.client.call(.watch, LogParameters(count: 20)).lines
        for row in rows { screen.rendering.note(row) }
        return try console.takeOver(
            start: ScreenPainter.start, finish: ScreenPainter.finish,
            report: { [mailbox] event in mailbox.put(.terminal(event)) }
        ) {
            defer { try? console.write(painter.erase(columns: console.size.columns)) }
            let pump = try InputPump(console.input) { [mailbox] bytes in
                mailbox.put(bytes.isEmpty ? .inputEnded : .screen(.bytes(bytes)))
            }
            defer { pump.stop() }
            return try loop(daemon.client, pump, rows)
        }
    }

    private func connect() throws -> Daemon {
        try invocation.connect { [mailbox] event in
            switch event {
            case .notification(.line(let line)): mailbox.put(.screen(.line(line)))
            case .notification(.update(let line)): mailbox.put(.screen(.update(line)))
            case .notification(.transfer(let view)): mailbox.put(.screen(.transfer(view)))
            case .notification(.delivery): break
            case .notification(.gap): mailbox.put(.gap)
            case .ended: mailbox.put(.ended)
            }
        }
    }

    private func loop(_ client: ControlClient, _ pump: InputPump, _ rows: [LineView]) throws -> ExitStatus {
        follow(TalkModel(inputs, from: screen), client)
        for row in rows { inputs.onNext(.line(row)) }
        while true {
            try paint()
            var next = mailbox.take(within: remainingPatience()) ?? .screen(.silence)
            // All that is here is taken before painting once.
            while true {
                if let status = try take(next, pump) { return status }
                guard let more = mailbox.take(within: 0) else { break }
                next = more
            }
        }
    }

    /// Bytes of a key or a paste that is open may come for so long yet; what else happens doesn't count.
    private func remainingPatience() -> Int? {
        guard let patience = said.withLock({ $0.patience }) else { return nil }
        let elapsed = (DispatchTime.now().uptimeNanoseconds - lastBytes.uptimeNanoseconds) / 1_000_000
        return max(0, patience - Int(elapsed))
    }

    /// - Returns: A status when it is time to leave.
    private func take(_ input: Input, _ pump: InputPump) throws -> ExitStatus? {
        switch input {
        case .screen(let input):
            if case .bytes = input {
                lastBytes = .now()
                pump.proceed()
            }
            return try tell(input)
        case .terminal(.resized):
            let size = console.size
            return try tell(.resized(columns: size.columns, rows: size.rows))
        case .inputEnded: return .success
        case .terminal(.signal(SIGINT)): return .interrupted
        case .terminal(.signal(let number)): throw Killed(signal: number)
        case .ended: throw CommandFailure(.unavailable, "chatd went away")
        case .gap: throw CommandFailure(.tryAgain, "the terminal was too slow; some lines are missing")
        }
    }

    /// The model's chains answer before `onNext` returns.
    private func tell(_ input: ScreenInput) throws -> ExitStatus? {
        inputs.onNext(input)
        let (isRedrawn, status) = said.withLock { said in
            defer { said.isRedrawn = false }
            return (said.isRedrawn, said.status)
        }
        if isRedrawn { try console.write(painter.erase(columns: console.size.columns) + "\u{1b}[H\u{1b}[2J") }
        if status != nil { try paint() }
        return status
    }

    private func follow(_ model: TalkModel, _ client: ControlClient) {
        bag.insert(
            model.lineInserted.subscribe(onNext: { [said] lines in said.withLock { $0.lines += lines } }),
            model.barUpdated.subscribe(onNext: { [said] bars in said.withLock { $0.bars = bars } }),
            model.inputUpdated.subscribe(onNext: { [said] input in said.withLock { $0.input = input } }),
            model.patience.subscribe(onNext: { [said] patience in said.withLock { $0.patience = patience } }),
            model.redrawn.subscribe(onNext: { [said] in said.withLock { $0.isRedrawn = true } }),
            model.left.subscribe(onNext: { [said] status in said.withLock { $0.status = $0.status ?? status } }),
            model.textSent.subscribe(onNext: { [mailbox] text in Self.send(text, client, mailbox) }),
            model.imageSent.subscribe(onNext: { [mailbox, home = invocation.environment["HOME"] ?? ""] path in
                Self.sendImage(path, home, client, mailbox)
            }),
            model.peersAsked.subscribe(onNext: { [mailbox] in Self.listPeers(client, mailbox) }))
    }

    private func paint() throws {
        let now = said.withLock { said in
            defer { said.lines = [] }
            return said
        }
        let bottom = BottomArea(bars: now.bars, input: now.input)
        try console.write(painter.paint(now.lines, bottom, columns: console.size.columns))
    }

    // MARK: To the daemon; answers come back by the mailbox

    private static func send(_ text: String, _ client: ControlClient, _ mailbox: Mailbox<Input>) {
        client.request(.send, SendParameters(text: text)) { result in
            if case .failure(let failure) = result { mailbox.put(.screen(.note("not sent: \(failure.message)"))) }
        }
    }

    private static func sendImage(
        _ path: String, _ home: String, _ client: ControlClient, _ mailbox: Mailbox<Input>
    ) {
        let file: ImageFile
        do throws(CommandFailure) {
            file = try ImageFile(path.hasPrefix("~/") ? home + path.dropFirst() : path)
        } catch {
            return mailbox.put(.screen(.note(error.message)))
        }
        client.request(.sendImage, SendImageParameters(name: file.name), descriptor: file.descriptor) {
            if case .failure(let failure) = $0 { mailbox.put(.screen(.note("not sent: \(failure.message)"))) }
        }
    }

    private static func listPeers(_ client: ControlClient, _ mailbox: Mailbox<Input>) {
        client.request(.peers, NoFields()) { result in
            switch result {
            case .success(let answer): mailbox.put(.screen(.peers(answer.peers)))
            case .failure(let failure): mailbox.put(.screen(.note(failure.message)))
            }
        }
    }
}
