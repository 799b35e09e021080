import ChatModel
import Locking

/// What this host said about the room to its own user, the newest thousand lines.
final class Notices: Sendable {
    private static let limit = 1_000  // lines
    private let lines = Locked<[Transcript]>([])

    func add(_ line: Transcript) {
        lines.withLock { lines in
            lines.append(line)
            if lines.count > 2 * Self.limit { lines.removeFirst(lines.count - Self.limit) }
        }
    }

    /// Puts each notice before the first stored line that was written after it.
    func woven(into stored: [Transcript]) -> [Transcript] {
        var notices = lines.withLock { $0 }.suffix(Self.limit)
        var woven: [Transcript] = []
        for line in stored {
            while let notice = notices.first, notice.time < line.time { woven.append(notices.removeFirst()) }
            woven.append(line)
        }
        return woven + notices
    }
}
