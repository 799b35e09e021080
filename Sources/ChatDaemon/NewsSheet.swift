import ChatModel
import Control
import Locking

/// What the watchers of a session are told of lines that came together, written once for all of them.
final class NewsSheet: Sendable {
    private struct Written: Sendable {
        var lines: [Transcript] = []
        var cursors: [Cursor?] = []
        var notifications = LineNotifications()
    }

    private static let usualLength = 512  // bytes of a line

    private let written = Locked(Written())

    /// The notifications of those lines that have a cursor behind them.
    func notifications(of lines: [Transcript], _ cursors: [Cursor?]) -> LineNotifications {
        let known = written.withLock { $0 }
        if known.cursors == cursors, Self.areSame(known.lines, lines) { return known.notifications }
        var notifications = LineNotifications(reserving: lines.count * Self.usualLength)
        for (line, cursor) in zip(lines, cursors) {
            guard let cursor, !notifications.append(text: line, cursor) else { continue }
            notifications.append(LineView(line, behind: cursor))
        }
        let latest = Written(lines: lines, cursors: cursors, notifications: notifications)
        written.withLock { $0 = latest }
        return notifications
    }

    /// Stored lines never change: those with the same ids say the same.
    private static func areSame(_ left: [Transcript], _ right: [Transcript]) -> Bool {
        left.count == right.count && left.first?.id != nil
            && zip(left, right).allSatisfy { $0.id != nil && $0.id == $1.id }
    }
}
