import Control
import Dispatch
import Glibc

/// `chat` alone: the transcript as it comes, and each line of the input is sent.
enum TalkCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        invocation.isInteractive ? try InteractiveTalk(invocation).run() : try runPlain(invocation)
    }

    private enum Input: Sendable {
        case bytes([UInt8])
        case event(ControlClientEvent)
    }

    /// No editing and no escapes: for pipes, files and dumb terminals.
    private static func runPlain(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let mailbox = Mailbox<Input>()
        let daemon = try invocation.connect { mailbox.put(.event($0)) }
        var printer = LinePrinter(console)
        try printer.learnNames(daemon)
        let count = console.isInputTerminal ? 20 : 0
        try printer.print(try daemon.client.call(.watch, LogParameters(count: count)).lines)
        let pump = try InputPump(console.input) { mailbox.put(.bytes($0)) }
        defer { pump.stop() }
        let sender = LineSender(daemon.client)
        var lines = MessageLines()
        do {
            while !lines.isOver {
                switch mailbox.take() {
                case .bytes(let bytes):
                    let taken = lines.take(bytes)
                    for text in taken.texts { try sender.send(text) }
                    if let failure = taken.failure { throw failure }
                    pump.proceed()
                case .event(let event): try printer.take(event)
                case nil: break
                }
            }
            try sender.finish()
        } catch let failure as CommandFailure {
            throw lines.adding(sender, to: failure)
        }
        while case .event(let event)? = mailbox.take(within: 0) { try printer.take(event) }
        daemon.tellIfAlone(sender.linked)
        return .success
    }
}
