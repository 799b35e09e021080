/// The frames that wait to be written on one link, Transport's own before the session's.
///
/// Pure. Frames are gathered into a batch that goes out in one system call; what is in the batch but not yet begun can
/// still be taken back.
struct Outbox: Sendable {
    private struct Part {
        let end: Int  // offset in the batch
        let frame: Frame
        let isSession: Bool
    }

    private var batch: [UInt8] = []
    private var written = 0  // bytes of the batch
    private var parts: [Part] = []
    private var control: [Frame] = []
    private var session: [Frame] = []
    private var sessionHead = 0
    private var last: Frame?

    /// Encoded bytes of the session's frames that aren't fully written.
    private(set) var sessionBytes = 0
    /// Encoded bytes of Transport's own frames that aren't fully written.
    private(set) var controlBytes = 0

    var isEmpty: Bool { written == batch.count && control.isEmpty && sessionHead == session.count && last == nil }

    mutating func append(control frame: Frame) {
        control.append(frame)
        controlBytes += frame.encodedLength
    }

    mutating func append(_ frames: [Frame]) {
        session += frames
        sessionBytes += frames.reduce(0) { $0 + $1.encodedLength }
    }

    /// Goes behind all else.
    mutating func append(last frame: Frame) { last = frame }

    /// Fills the batch, once it is written, with whole frames of about `limit` bytes.
    mutating func gather(_ limit: Int) {
        guard written == batch.count else { return }
        batch.removeAll(keepingCapacity: batch.capacity <= 4 * limit)
        parts.removeAll(keepingCapacity: true)
        written = 0
        for frame in control { add(frame, isSession: false) }
        control = []
        while sessionHead < session.count, batch.isEmpty || batch.count + session[sessionHead].encodedLength <= limit {
            add(session[sessionHead], isSession: true)
            sessionHead += 1
        }
        compact()
        if sessionHead == session.count, let frame = last.take() { add(frame, isSession: false) }
    }

    private mutating func add(_ frame: Frame, isSession: Bool) {
        frame.append(to: &batch)
        parts.append(Part(end: batch.count, frame: frame, isSession: isSession))
    }

    private mutating func compact() {
        if sessionHead == session.count {
            session.removeAll(keepingCapacity: session.capacity <= 1024)
            sessionHead = 0
        } else if sessionHead >= 1024 {
            session.removeFirst(sessionHead)
            sessionHead = 0
        }
    }

    /// The rest of the batch, in place.
    func withUnwritten<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        batch.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    }

    /// Notes what a write took.
    ///
    /// - Returns: Encoded bytes of the session's frames that are now fully written.
    mutating func wrote(_ count: Int) -> Int {
        let before = written
        written += count
        var finished = 0
        for part in parts where part.end > before && part.end <= written {
            if part.isSession { finished += part.frame.encodedLength } else { controlBytes -= part.frame.encodedLength }
        }
        sessionBytes -= finished
        return finished
    }

    /// Takes back the session's frames of which nothing has been written; a frame that is begun stays, and so do
    /// Transport's own.
    mutating func takeUnsent() -> [Frame] {
        let ahead = parts.firstIndex { start(of: $0) >= written && $0.end > written } ?? parts.count
        let unsent = parts[ahead...]
        control = unsent.filter { !$0.isSession }.map(\.frame) + control
        let frames = unsent.filter(\.isSession).map(\.frame) + session[sessionHead...]
        if let end = unsent.first.map({ start(of: $0) }) { batch.removeSubrange(end...) }
        parts.removeSubrange(ahead...)
        session = []
        sessionHead = 0
        sessionBytes -= frames.reduce(0) { $0 + $1.encodedLength }
        return frames
    }

    private func start(of part: Part) -> Int { part.end - part.frame.encodedLength }
}
