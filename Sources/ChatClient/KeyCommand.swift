import ChatModel
import Control
import Glibc
import Identity

/// `chat key new`: needs no daemon.
enum KeyCommand {
    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let words = invocation.options.operands
        guard words.first == ClientOptions.newKey.word else {
            throw ClientOptions.key.error(
                words.first.map { "no command 'key \(safeWord($0))'" } ?? "say what; to make a key: chat key new")
        }
        let options = invocation.options.merging(try ClientOptions.newKey.parse(words.dropFirst()))
        if options.has(.help) {
            try invocation.console.write(ClientOptions.newKey.help)
            return .success
        }
        if let word = options.operands.first { throw ClientOptions.newKey.error("unexpected '\(safeWord(word))'") }
        try invocation.console.print(try newKey(options, invocation.environment).text)
        return .success
    }

    private static func newKey(_ options: ParsedArguments, _ environment: [String: String]) throws -> ChatKey {
        guard let room = options[ClientOptions.newRoom].map({ Names.folded(room: $0) }) else {
            throw ClientOptions.newKey.error("which room? Try: chat key new --room lab")
        }
        if let complaint = Names.complaint(room: room) { throw CommandFailure(.usage, SafeText.line(complaint)) }
        let variable = environment["CHAT_STATE_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        let file = StateDirectory.identity(
            in: options[ClientOptions.stateDirectory] ?? variable, environment: environment)
        umask(0o077)
        return ChatKey(newRoom: room, owner: try StateDirectory.openIdentity(file).peer)
    }
}
