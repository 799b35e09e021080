import ChatModel
import Control

/// A daemon that said hello.
struct Daemon {
    let client: ControlClient
    let hello: HelloResult
    let console: Console

    /// Everybody whom it knows, itself too.
    func names() throws(CommandFailure) -> NameBook {
        var names = NameBook()
        names.note(hello.name, peer: hello.peer)
        names.note(try client.call(.peers, NoFields()).peers)
        return names
    }

    /// Says when nobody else heard what was sent.
    func tellIfAlone(_ linked: Int?) {
        if linked == 0 { console.complain("stored; nobody else is in \(SafeText.name(hello.room)) yet") }
    }
}

/// One command line, understood.
struct Invocation {
    let options: ParsedArguments
    let environment: [String: String]
    let console: Console
    let patience: ConnectPatience

    init(
        _ options: ParsedArguments, _ environment: [String: String], _ console: Console, _ patience: ConnectPatience
    ) {
        self.options = options
        self.environment = environment
        self.console = console
        self.patience = patience
    }

    /// Finds the daemon, and says so when that takes a while.
    func connect(
        _ events: @escaping @Sendable (ControlClientEvent) -> Void = { _ in }
    ) throws(CommandFailure) -> Daemon {
        let locator = DaemonLocator(
            stateDirectory: options[ClientOptions.stateDirectory], room: options[ClientOptions.room],
            environment: environment)
        let client = try ControlClient.connect(
            to: locator, patience: patience, waiting: { console.complain("chat: waiting for chatd") }, events: events)
        let hello = try client.call(.hello, NoFields(), within: 5000)
        if let room = locator.room, room != hello.room {
            throw CommandFailure(
                .usage,
                "the chatd in \(SafeText.line(hello.stateDirectory)) is in room '\(hello.room)', not in '\(room)'")
        }
        return Daemon(client: client, hello: hello, console: console)
    }

    /// Whether somebody sits at a terminal that can do more than print lines.
    var isInteractive: Bool {
        console.isInputTerminal && console.isOutputTerminal && environment["TERM"] != "dumb"
    }

    /// What `--nonce` says.
    func nonce(_ table: OptionTable) throws(UsageError) -> String? {
        guard let text = options[ClientOptions.nonce] else { return nil }
        guard Nonce(hexadecimal: text) != nil else {
            throw table.error("'\(safeWord(text))' is no nonce; one has 32 hexadecimal digits")
        }
        return text
    }

    /// For a command that takes no operands.
    func refuseOperands(of table: OptionTable) throws(UsageError) {
        if let word = options.operands.first { throw table.error("unexpected '\(safeWord(word))'") }
    }
}
