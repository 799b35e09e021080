import ChatModel
import Locking

/// Who waits for the room's answer to a command.
final class Replies: Sendable {
    /// What is done with a reply: on its own, or with others to the same group.
    private enum Waiting: Sendable {
        case one(@Sendable (CommandReply) -> Void)
        case member(Group, index: Int)

        func give(_ reply: CommandReply) {
            switch self {
            case .one(let take): take(reply)
            case .member(let group, let index): group.take([(index, reply)])
            }
        }
    }

    /// Commands that were given together.
    private final class Group: Sendable {
        let take: @Sendable ([(index: Int, reply: CommandReply)]) -> Void
        init(_ take: @escaping @Sendable ([(index: Int, reply: CommandReply)]) -> Void) { self.take = take }
    }

    private struct State: Sendable {
        var last: UInt64 = 0
        var waiting: [CommandID: Waiting] = [:]
        var isOver = false
    }

    private let state = Locked(State())

    /// Numbers a command; `reply` is called once, from any thread.
    func expect(_ reply: @escaping @Sendable (CommandReply) -> Void) -> CommandID {
        let (command, isOver) = state.withLock { state in
            state.last += 1
            let command = CommandID(value: state.last)
            if !state.isOver { state.waiting[command] = .one(reply) }
            return (command, state.isOver)
        }
        if isOver { reply(.failed(.storage("leaving the room"))) }
        return command
    }

    /// Numbers commands that follow one another.
    ///
    /// `take` is called from any thread, as often as there are replies: each time with those that came at once, each with
    /// its command's index.
    func expect(
        _ count: Int, _ take: @escaping @Sendable ([(index: Int, reply: CommandReply)]) -> Void
    ) -> [CommandID] {
        let group = Group(take)
        let (commands, isOver) = state.withLock { state in
            let commands = (0..<count).map { CommandID(value: state.last + 1 + UInt64($0)) }
            state.last += UInt64(count)
            if !state.isOver {
                for (index, command) in commands.enumerated() { state.waiting[command] = .member(group, index: index) }
            }
            return (commands, state.isOver)
        }
        if isOver { take((0..<count).map { ($0, .failed(.storage("leaving the room"))) }) }
        return commands
    }

    func give(_ reply: CommandReply, to command: CommandID) {
        state.withLock { $0.waiting.removeValue(forKey: command) }?.give(reply)
    }

    /// Gives many replies, to each group at once.
    func give(_ replies: [(command: CommandID, reply: CommandReply)]) {
        let waiting = state.withLock { state in replies.map { state.waiting.removeValue(forKey: $0.command) } }
        var (group, members): (Group?, [(index: Int, reply: CommandReply)]) = (nil, [])
        for (waiting, (_, reply)) in zip(waiting, replies) {
            guard case .member(let next, let index)? = waiting else {
                waiting?.give(reply)
                continue
            }
            if next !== group, !members.isEmpty {
                group?.take(members)
                members = []
            }
            group = next
            members.append((index, reply))
        }
        if !members.isEmpty { group?.take(members) }
    }

    /// Answers everybody who waits, and whoever comes later.
    func failAll(_ failure: AppendFailure) {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for reply in waiting.values { reply.give(.failed(failure)) }
    }
}
