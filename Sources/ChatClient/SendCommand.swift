import ChatModel
import Control
import Dispatch
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
        let (daemon, wait) = try connect(invocation)
        let sender = LineSender(daemon.client, keepsIDs: true)
        try sender.send(text, nonce: nonce)
        try sender.finish()
        let ids = sender.takeIDs()
        if invocation.options.has(ClientOptions.printID) { try invocation.console.print(ids) }
        if let wait { for id in ids { try wait.wait(for: id, daemon) } } else { daemon.tellIfAlone(sender.linked) }
        return .success
    }

    private static func sendLines(_ invocation: Invocation) throws -> ExitStatus {
        if invocation.options.has(ClientOptions.nonce) {
            throw ClientOptions.send.error("--nonce names one text; it can't go with -")
        }
        let (daemon, wait) = try connect(invocation)
        let printsIDs = invocation.options.has(ClientOptions.printID)
        let sender = LineSender(daemon.client, keepsIDs: printsIDs || wait != nil)
        var lines = MessageLines()
        var last: String?
        func printIDs() throws {
            let ids = sender.takeIDs()
            last = ids.last ?? last
            if printsIDs, !ids.isEmpty { try invocation.console.print(ids) }
        }
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
        guard let wait else {
            daemon.tellIfAlone(sender.linked)
            return .success
        }
        // Who has the last of them has those before it too.
        if let last { try wait.wait(for: last, daemon) }
        return .success
    }

    private static func connect(_ invocation: Invocation) throws -> (Daemon, DeliveryWait?) {
        let options = invocation.options
        guard let word = options[ClientOptions.wait] else {
            if options.has(ClientOptions.timeout) { throw ClientOptions.send.error("--timeout goes with --wait") }
            return (try invocation.connect(), nil)
        }
        guard let wanted = WantedDelivery(word) else {
            throw ClientOptions.send.error("'\(safeWord(word))' is not all, any or a number of hosts")
        }
        let limit = try options[ClientOptions.timeout].map { word throws(UsageError) -> Double in
            guard let seconds = Double(word), seconds >= 0, seconds <= 1e9 else {
                throw ClientOptions.send.error("'\(safeWord(word))' is not a number of seconds")
            }
            return seconds
        }
        let mailbox = Mailbox<ControlClientEvent>()
        let daemon = try invocation.connect { mailbox.put($0) }
        // Counted from when the daemon answers.
        let deadline = limit.map { DispatchTime.now() + $0 }
        return (daemon, DeliveryWait(wanted: wanted, deadline: deadline, mailbox: mailbox))
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
