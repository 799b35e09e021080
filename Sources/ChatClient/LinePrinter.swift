import Control

/// Prints rows as they come, for people or for programs.
struct LinePrinter {
    private let console: Console
    private let asJSON: Bool
    private var rendering = LineRendering()

    init(_ console: Console, asJSON: Bool = false) {
        self.console = console
        self.asJSON = asJSON
    }

    /// Asks who is known, so that two of one name are told apart from the first line on.
    mutating func learnNames(_ daemon: Daemon) throws(CommandFailure) {
        rendering.names = try daemon.names()
    }

    mutating func print(_ lines: [LineView]) throws {
        for line in lines { rendering.note(line) }
        var output: [UInt8] = []
        for line in lines {
            if asJSON {
                output += try jsonLine(line)
            } else {
                for part in rendering.lines(line) { output += Array((part + "\n").utf8) }
            }
        }
        if !output.isEmpty { try console.write(output) }
    }

    /// - Throws: When the daemon is gone, or this client was too slow for it.
    mutating func take(_ event: ControlClientEvent) throws {
        switch event {
        case .notification(.line(let line)), .notification(.update(let line)): try print([line])
        case .notification(.transfer), .notification(.delivery): break
        case .notification(.gap):
            throw CommandFailure(.tryAgain, "the output was read too slowly; some lines are missing")
        case .ended: throw CommandFailure(.unavailable, "chatd went away")
        }
    }
}
