/// Whole lines of one kind, one behind the other.
struct OutputLines: Sendable {
    var bytes: [UInt8]
    var count = 1
    var isNotification: Bool

    /// Up to this length further lines of the kind join, in bytes.
    private static let joinedLength = 64 * 1024

    /// Adds lines if they are of this kind and there is room.
    ///
    /// - Returns: Whether they were added.
    mutating func join(_ more: OutputLines) -> Bool {
        guard more.isNotification == isNotification, bytes.count < Self.joinedLength else { return false }
        bytes += more.bytes
        count += more.count
        return true
    }
}

/// Lines waiting for one client, counted by kind; no I/O.
struct OutputQueue {
    private var parts: [OutputLines] = []
    private var head = 0
    /// How much of the first part went out.
    private var offset = 0
    /// Lines, and bytes of them, that didn't go out wholly.
    private(set) var notifications = 0
    private(set) var notificationBytes = 0
    private(set) var answerBytes = 0

    var isEmpty: Bool { head == parts.count }

    mutating func append(_ lines: OutputLines) {
        count(lines.count, lines.bytes.count, lines.isNotification)
        if head < parts.count, parts[parts.count - 1].join(lines) { return }
        parts.append(lines)
    }

    /// What to write next, in place.
    func withFront<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard !isEmpty else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return parts[head].bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    }

    /// Forgets what was written of ``withFront(_:)``.
    mutating func drop(_ written: Int) {
        guard !isEmpty else { return }
        let isAll = offset + written == parts[head].bytes.count
        let ended = isAll ? parts[head].count : parts[head].bytes[offset..<offset + written].count { $0 == 0x0A }
        count(-ended, -written, parts[head].isNotification)
        parts[head].count -= ended
        offset += written
        guard isAll else { return }
        offset = 0
        parts[head].bytes = []
        head += 1
        if head == parts.count || head > 64 {
            parts.removeFirst(head)
            head = 0
        }
    }

    /// Forgets all notifications, except one that is half written.
    mutating func dropNotifications() {
        var kept: [OutputLines] = []
        for (index, part) in parts[head...].enumerated() {
            if !part.isNotification {
                kept.append(part)
            } else if index == 0, let rest = startedLine {
                kept.append(rest)
            }
        }
        if kept.first?.isNotification != true, parts[head].isNotification { offset = 0 }
        parts = kept
        head = 0
        (notifications, notificationBytes, answerBytes) = (0, 0, 0)
        for part in parts { count(part.count, part.bytes.count, part.isNotification) }
        if let first = parts.first { count(0, -offset, first.isNotification) }
    }

    /// The first part up to the end of the line of which some is written, unless that is between two lines.
    private var startedLine: OutputLines? {
        let bytes = parts[head].bytes
        guard offset > 0, bytes[offset - 1] != 0x0A, let end = bytes[offset...].firstIndex(of: 0x0A) else { return nil }
        return OutputLines(bytes: Array(bytes[...end]), isNotification: true)
    }

    private mutating func count(_ lines: Int, _ bytes: Int, _ isNotification: Bool) {
        if isNotification {
            notifications += lines
            notificationBytes += bytes
        } else {
            answerBytes += bytes
        }
    }
}
