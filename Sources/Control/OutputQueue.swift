/// Lines waiting for one client, counted by kind; no I/O.
struct OutputQueue {
    private struct Line {
        var bytes: [UInt8]
        var isNotification: Bool
    }

    private var lines: [Line] = []
    private var head = 0
    /// How much of the first line went out.
    private var offset = 0
    private(set) var notifications = 0
    private(set) var notificationBytes = 0
    private(set) var answerBytes = 0

    var isEmpty: Bool { head == lines.count }

    mutating func append(_ bytes: [UInt8], isNotification: Bool) {
        lines.append(Line(bytes: bytes, isNotification: isNotification))
        count(lines[lines.count - 1], 1)
    }

    /// The bytes to write next: whole lines up to `limit`, at least one.
    func front(_ limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in head..<lines.count {
            if !bytes.isEmpty, bytes.count + lines[index].bytes.count > limit { break }
            bytes += index == head ? lines[index].bytes[offset...] : lines[index].bytes[...]
        }
        return bytes
    }

    /// Forgets what was written.
    mutating func drop(_ written: Int) {
        offset += written
        while head < lines.count, offset >= lines[head].bytes.count {
            offset -= lines[head].bytes.count
            count(lines[head], -1)
            lines[head].bytes = []
            head += 1
        }
        if head > 64, head >= lines.count / 2 {
            lines.removeFirst(head)
            head = 0
        }
    }

    /// Forgets all notifications, except one that is half written.
    mutating func dropNotifications() {
        let started = offset > 0 ? head : -1
        let kept = (head..<lines.count).filter { $0 == started || !lines[$0].isNotification }
        lines = kept.map { lines[$0] }
        head = 0
        notifications = 0
        notificationBytes = 0
        answerBytes = 0
        for line in lines { count(line, 1) }
    }

    private mutating func count(_ line: Line, _ sign: Int) {
        if line.isNotification {
            notifications += sign
            notificationBytes += sign * line.bytes.count
        } else {
            answerBytes += sign * line.bytes.count
        }
    }
}
