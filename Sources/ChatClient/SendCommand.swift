import ChatModel
import Control
import Glibc

/// `chat send TEXT...` and `chat send -`.
enum SendCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let words = invocation.options.operands
        if words.isEmpty { throw ClientOptions.send.error("no text; to send lines of the standard input: chat send -") }
        return words == ["-"] ? try sendLines(invocation) : try sendText(words.joined(separator: " "), invocation)
    }

    private static func sendText(_ words: String, _ invocation: Invocation) throws -> ExitStatus {
        let text = try TextCheck.text(words.utf8, called: "the text")
        if text.isEmpty { throw ClientOptions.send.error("the text is empty") }
        let nonce = try invocation.nonce(ClientOptions.send)
        let daemon = try invocation.connect()
        let sender = LineSender(daemon.client, keepsIDs: true)
        try sender.send(text, nonce: nonce)
        try sender.finish()
        if invocation.options.has(ClientOptions.printID) { try invocation.console.print(sender.takeIDs()) }
        daemon.tellIfAlone(sender.linked)
        return .success
    }

    private static func sendLines(_ invocation: Invocation) throws -> ExitStatus {
        if invocation.options.has(ClientOptions.nonce) {
            throw ClientOptions.send.error("--nonce names one text; it can't go with -")
        }
        let daemon = try invocation.connect()
        let printsIDs = invocation.options.has(ClientOptions.printID)
        let sender = LineSender(daemon.client, keepsIDs: printsIDs)
        var lines = MessageLines()
        func printIDs() throws { if printsIDs { try invocation.console.print(sender.takeIDs()) } }
        do {
            while !lines.isOver {
                let taken = lines.take(try readChunk(invocation.console.input))
                for text in taken.texts { try sender.send(text) }
                if let failure = taken.failure { throw failure }
                try printIDs()
            }
            try sender.finish()
        } catch let failure as CommandFailure {
            throw lines.adding(sender, to: failure)
        }
        try printIDs()
        daemon.tellIfAlone(sender.linked)
        return .success
    }

    /// Empty at the end.
    private static func readChunk(_ input: CInt) throws(CommandFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count >= 0 { return Array(buffer[..<count]) }
            if errno == EAGAIN {
                var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
            } else if errno != EINTR {
                throw CommandFailure(.inputOutput, "standard input: \(String(cString: strerror(errno)))")
            }
        }
    }
}

/// Lines of an input stream as messages; empty ones are left out.
struct MessageLines {
    struct Taken {
        var texts: [String] = []
        /// Why the line after them can't be sent.
        var failure: CommandFailure?
    }

    /// Longer than any text, so that a line over the limit can be told its length.
    private var splitter = LineSplitter(limit: 1024 * 1024)
    private var number = 0
    private(set) var isOver = false

    /// The messages in what came; empty bytes are the end.
    mutating func take(_ bytes: [UInt8]) -> Taken {
        var taken = Taken()
        splitter.append(bytes)
        isOver = bytes.isEmpty
        do throws(CommandFailure) {
            while let line = splitter.next() { try add(line, to: &taken) }
            if isOver, let line = splitter.finish() { try add(line, to: &taken) }
            if splitter.isOverLimit {
                number += 1
                let limit = EventBody.maximumTextLength
                throw CommandFailure(.badData, "line \(number) is too long; the limit is \(limit) bytes")
            }
        } catch {
            taken.failure = error
        }
        return taken
    }

    private mutating func add(_ line: LineSplitter.Line, to taken: inout Taken) throws(CommandFailure) {
        number += 1
        let text = try TextCheck.text(line.bytes, called: "line \(number)")
        if !text.isEmpty { taken.texts.append(text) }
    }

    /// Waits for what is on its way, and says how much of the input is on disk.
    func adding(_ sender: LineSender, to failure: CommandFailure) -> CommandFailure {
        if number == 0 { return failure }
        try? sender.finish()
        let stored = sender.stored == 1 ? "1 message is stored" : "\(sender.stored) messages are stored"
        return CommandFailure(failure.exit, "\(failure.message); \(stored)")
    }
}
