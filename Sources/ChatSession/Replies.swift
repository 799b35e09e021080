import ChatModel
import Locking

/// Who waits for the room's answer to a command.
final class Replies: Sendable {
    private struct State: Sendable {
        var last: UInt64 = 0
        var waiting: [CommandID: @Sendable (CommandReply) -> Void] = [:]
        var isOver = false
    }

    private let state = Locked(State())

    /// Numbers a command; `reply` is called once, from any thread.
    func expect(_ reply: @escaping @Sendable (CommandReply) -> Void) -> CommandID {
        let (command, isOver) = state.withLock { state in
            state.last += 1
            let command = CommandID(value: state.last)
            if !state.isOver { state.waiting[command] = reply }
            return (command, state.isOver)
        }
        if isOver { reply(.failed(.storage("leaving the room"))) }
        return command
    }

    func give(_ reply: CommandReply, to command: CommandID) {
        state.withLock { $0.waiting.removeValue(forKey: command) }?(reply)
    }

    /// Answers everybody who waits, and whoever comes later.
    func failAll(_ failure: AppendFailure) {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for reply in waiting.values { reply(.failed(failure)) }
    }
}
