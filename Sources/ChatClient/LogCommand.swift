import Control

/// `chat log`.
enum LogCommand {
    private static let table = ClientOptions.log
    private static let newest = 20  // lines, where nothing says how many
    private static let everything = 1_000_000  // lines
    private static let step = 1_000  // lines asked for at once

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        try invocation.refuseOperands(of: table)
        let wanted = try parameters(invocation.options)
        if wantsPages(invocation) {
            let daemon = try invocation.connect()
            return try LogPager(daemon, LineRendering(names: try daemon.names()), wanted).run()
        }
        let mailbox = Mailbox<ControlClientEvent>()
        let daemon = try invocation.connect { mailbox.put($0) }
        var printer = LinePrinter(invocation.console, asJSON: invocation.options.has(ClientOptions.json))
        try printer.learnNames(daemon)
        let isFollowing = invocation.options.has(ClientOptions.follow)
        let print = wanted.after == nil ? printNewest : printNext
        try print(wanted, isFollowing ? .watch : .log, daemon, &printer)
        while isFollowing, let event = mailbox.take() { try printer.take(event) }
        return .success
    }

    /// Reads from the end on, a part at a time, and prints all of it in its order.
    private static func printNewest(
        _ wanted: LogParameters, _ method: ControlMethod<LogParameters, LogResult>, _ daemon: Daemon,
        _ printer: inout LinePrinter
    ) throws {
        var (left, next, method) = (wanted.count, wanted, method)
        var pages: [ArraySlice<LineView>] = []
        while true {
            next.count = min(left, step)
            let page = try daemon.client.call(method, next)
            guard let earlier = page.earlier, page.lines.count < left else {
                pages.append(page.lines[...])
                break
            }
            // What this host said before the oldest stored line comes with the page that ends there.
            let lines = page.lines.drop { $0.id == nil }
            pages.append(lines)
            left -= lines.count
            (next.before, next.end, method) = (earlier, page.start, .log)
        }
        for page in pages.reversed() { try printer.print(Array(page)) }
    }

    /// Prints what came after a cursor, a part at a time.
    private static func printNext(
        _ wanted: LogParameters, _ method: ControlMethod<LogParameters, LogResult>, _ daemon: Daemon,
        _ printer: inout LinePrinter
    ) throws {
        var left = wanted.count
        var next = wanted
        while true {
            next.count = min(left, step)
            let page = try daemon.client.call(method, next)
            try printer.print(page.lines)
            left -= page.lines.count
            guard page.more == true, left > 0, let cursor = page.cursor else { return }
            next.after = cursor
        }
    }

    static func parameters(_ options: ParsedArguments, now: Int = Clock.now()) throws(UsageError) -> LogParameters {
        var wanted = LogParameters(count: try count(options))
        wanted.after = options[ClientOptions.after]
        wanted.since = try time(options[ClientOptions.since], now)?.first
        wanted.until = try time(options[ClientOptions.until], now)?.last
        wanted.from = options[ClientOptions.from]
        if let since = wanted.since, let until = wanted.until, since > until {
            throw table.error("--since is later than --until")
        }
        if options.has(ClientOptions.follow) {
            if wanted.until != nil { throw table.error("--follow has no end: leave out --until") }
            if wanted.after != nil, options.has(ClientOptions.count) {
                throw table.error("--follow --after prints all there is: leave out -n")
            }
        }
        return wanted
    }

    private static func time(_ word: String?, _ now: Int) throws(UsageError) -> TimeWord? {
        guard let word else { return nil }
        guard let time = TimeWord(word, now: now) else {
            throw table.error(
                "'\(safeWord(word))' is no time, such as 10:30, 2026-11-30, 2026-11-30T10:30, 2h or yesterday")
        }
        return time
    }

    private static func count(_ options: ParsedArguments) throws(UsageError) -> Int {
        guard let text = options[ClientOptions.count] else {
            return options.has(ClientOptions.since) || options.has(ClientOptions.after) ? everything : newest
        }
        guard let count = Int(text), count >= 0 else {
            throw table.error("'\(safeWord(text))' is not a number of lines")
        }
        return count
    }

    /// On a terminal, and nothing was asked for that a pager can't give.
    private static func wantsPages(_ invocation: Invocation) -> Bool {
        let options = [ClientOptions.count, ClientOptions.follow, ClientOptions.json, ClientOptions.after]
        return invocation.isInteractive && !options.contains { invocation.options.has($0) }
    }
}
