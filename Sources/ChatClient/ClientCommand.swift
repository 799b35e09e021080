import ChatModel
public import Control
import FoundationEssentials
import Glibc
import SystemCalls

/// The command `chat`, from its arguments to its exit status (sysexits(3)).
public enum ClientCommand {
    /// Runs the process's own command line on its own streams.
    public static func main() -> CInt {
        holdStandardDescriptors()
        let streams = Console(input: STDIN_FILENO, output: STDOUT_FILENO, error: STDERR_FILENO)
        do throws(CommandFailure) {
            return run(
                try CommandWords.ofProcess(), environment: ProcessInfo.processInfo.environment, input: streams.input,
                output: streams.output, error: streams.error)
        } catch {
            streams.complain("chat: \(error.message)")
            return error.exit.rawValue
        }
    }

    /// Runs one command line; blocks until it is done.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - environment: Where `CHAT_STATE_DIR`, `CHAT_ROOM`, `HOME` and the XDG variables are looked up.
    ///   - input: Descriptor to read from; stays open.
    ///   - output: Descriptor for what was asked for.
    ///   - error: Descriptor for complaints.
    ///   - patience: How long to wait for a daemon that isn't up yet.
    /// - Returns: The exit status.
    public static func run(
        _ arguments: [String], environment: [String: String], input: CInt, output: CInt, error: CInt,
        patience: ConnectPatience = ConnectPatience()
    ) -> CInt {
        signal(SIGPIPE, SIG_IGN)  // a reader that left is an error of write(2)
        let console = Console(input: input, output: output, error: error)
        do {
            return try run(arguments, environment, console, patience).rawValue
        } catch let error as UsageError {
            console.complain(error.lines(program: "chat"))
            return ExitStatus.usage.rawValue
        } catch let failure as CommandFailure {
            console.complain("chat: \(failure.message)")
            return failure.exit.rawValue
        } catch is OutputClosed {
            return ExitStatus.success.rawValue
        } catch let killed as Killed {
            return 128 + killed.signal
        } catch {
            console.complain("chat: \(error)")
            return ExitStatus.software.rawValue
        }
    }

    private static func run(
        _ arguments: [String], _ environment: [String: String], _ console: Console, _ patience: ConnectPatience
    ) throws -> ExitStatus {
        let outer = try ClientOptions.chat.parse(arguments)
        guard let word = outer.operands.first else {
            if try answerHelp(ClientOptions.chat, outer, console) { return .success }
            return try TalkCommand.run(Invocation(outer, environment, console, patience))
        }
        if word == "help", outer.operands.count <= 2 { return try help(outer.operands, console) }
        guard let table = ClientOptions.chat.subcommands.first(where: { $0.word == word }) else {
            throw unknown(outer.operands)
        }
        let inner = try table.parse(outer.operands.dropFirst())
        let options = outer.merging(inner)
        if try answerHelp(table, options, console) { return .success }
        let invocation = Invocation(options, environment, console, patience)
        switch word {
        case "send": return try SendCommand.run(invocation)
        case "send-image": return try SendImageCommand.run(invocation)
        case "log": return try LogCommand.run(invocation)
        case "key": return try KeyCommand.run(invocation)
        case "verify-peer": return try VerifyPeerCommand.run(invocation)
        case "status": return try StatusCommand.run(invocation)
        case "verify": return try VerifyCommand.run(invocation)
        case "delivery": return try DeliveryCommand.run(invocation)
        case "peers": return try PeersCommand.run(invocation)
        default:
            guard let decision = PeerDecision(rawValue: word) else { throw unknown(outer.operands) }
            return try DecideCommand.run(decision, table, invocation)
        }
    }

    /// `chat help` and `chat help COMMAND`.
    private static func help(_ words: [String], _ console: Console) throws -> ExitStatus {
        guard let word = words.dropFirst().first else {
            try console.write(ClientOptions.chat.help)
            return .success
        }
        guard let table = ClientOptions.chat.subcommands.first(where: { $0.word == word }) else {
            throw ClientOptions.chat.error("no command '\(safeWord(word))'")
        }
        try console.write(table.help)
        return .success
    }

    private static func answerHelp(
        _ table: OptionTable, _ options: ParsedArguments, _ console: Console
    ) throws -> Bool {
        if options.has(.help) {
            try console.write(table.help)
        } else if options.has(.version) {
            try console.print("chat \(chatVersion)")
        } else {
            return false
        }
        return true
    }

    private static func unknown(_ words: [String]) -> UsageError {
        let quoted = words.map(shellQuoted).joined(separator: " ")
        return ClientOptions.chat.error("no command '\(safeWord(words[0]))'; to send it: chat send \(quoted)")
    }
}
