import ChatModel
import ChatSession
import Control
import Dispatch
import History
import Identity
import Locking

/// Reading the transcript, and following it.
extension DaemonHandler {
    func page(_ parameters: LogParameters) throws -> TranscriptPage {
        let filter = try filter(parameters)
        if let after = try parameters.after.map({ try cursor($0) }) {
            return try session.page(after: after, count: parameters.count, filter)
        }
        let before = parameters.before.flatMap { EventID(hexadecimal: $0) }
        let end = try parameters.end.map { try cursor($0) }
        return try session.page(before: before, count: parameters.count, filter, end: end)
    }

    private func cursor(_ text: String) throws -> Cursor {
        if let cursor = Cursor(text) { return cursor }
        throw ControlError(.usage, "'\(SafeText.name(text))' is no cursor; chat log --json prints them")
    }

    func watch(_ parameters: LogParameters, _ connection: ControlConnection, _ reply: ControlReply) {
        // Watches before it reads, so that nothing comes in between.
        let watcher = Watcher(connection, of: session, on: sheet, reading: reading)
        watchers.withLock { $0[connection, default: []].append(watcher) }
        reading.async { [self] in
            do {
                let page = try page(parameters)
                if !page.isMore { return watcher.begin(with: page, try filter(parameters), reply) }
                reply.succeed(LogResult(page))
            } catch { reply.fail(error as? ControlError ?? ControlError(describing: error)) }
            watchers.withLock { $0[connection]?.removeAll { $0 === watcher } }
        }
    }

    private func filter(_ parameters: LogParameters) throws -> LineFilter {
        LineFilter(
            author: try parameters.from.map { try author($0) }, since: parameters.since.map { UInt64(clamping: $0) },
            until: parameters.until.map { UInt64(clamping: $0) })
    }

    /// Whom a word means among all who have written, this host too.
    private func author(_ word: String) throws -> PeerID {
        var names = try allPeers().reduce(into: [PeerID: String]()) { names, view in
            if let peer = PeerID(view.peer) { names[peer] = view.name }
        }
        names.merge(session.authors) { known, _ in known }
        names[session.peer] = session.displayName
        switch PeerQuery.find(word, among: names) {
        case .one(let peer): return peer
        case .several(let peers):
            let list = PeerQuery.list(peers, names: names)
            throw ControlError(.usage, "'\(SafeText.name(word))' may be \(list); say more digits of the key")
        case .nobody:
            let list = PeerQuery.list(names.keys.sorted(), names: names)
            throw ControlError(.usage, "'\(SafeText.name(word))' is nobody known here: \(list)")
        }
    }
}
