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
    ///
    /// - Parameters:
    ///   - stored: Lines that follow one another.
    ///   - next: The stored line after them, `nil` if there is none yet: later notices aren't among them.
    ///   - isBeginning: Whether notices before the first of them are theirs; else they are of an earlier page.
    /// - Returns: Both, in order.
    func woven(into stored: [Transcript], before next: Transcript?, isBeginning: Bool) -> [Transcript] {
        var notices = lines.withLock { $0 }.suffix(Self.limit)
        var woven: [Transcript] = []
        for line in stored {
            while let notice = notices.first, notice.time < line.time { woven.append(notices.removeFirst()) }
            woven.append(line)
        }
        let rest = next.map { next in notices.prefix { $0.time < next.time } } ?? notices
        return Array((woven + rest).drop { !isBeginning && $0.id == nil })
    }
}
