import Dispatch
import Glibc
import Locking
import SystemCalls

/// One client of a daemon, as the daemon sees it.
///
/// `@unchecked`: what changes is only touched on `queue`, the server's.
public final class ControlConnection: @unchecked Sendable {
    private enum Phase {
        case open
        /// The client said its last; it still gets its answers.
        case answering
        /// It is let go: it gets what is queued, for a while.
        case leaving
        case closed
    }

    /// What is to go out, until the queue takes it: one turn and one write for all that comes meanwhile.
    private struct Outgoing: Sendable {
        var lines: [OutputLines] = []
        /// Requests answered by these.
        var answered = 0
        var isTurnDue = false
        /// Notifications that haven't gone out: those among these lines, and those behind them in the queue's hands.
        var fresh = Backlog()
        var queued = Backlog()

        /// - Returns: Whether nobody has seen to it yet that the queue takes it.
        mutating func add(_ more: OutputLines) -> Bool {
            if more.isNotification { fresh.add(more.count, more.bytes.count) }
            if lines.isEmpty || !lines[lines.count - 1].join(more) { lines.append(more) }
            defer { isTurnDue = true }
            return !isTurnDue
        }
    }

    private struct Backlog: Sendable {
        var count = 0
        var bytes = 0

        mutating func add(_ count: Int, _ bytes: Int) {
            self.count += count
            self.bytes += bytes
        }
    }

    private let socket: Descriptor
    private let queue: DispatchQueue
    private let limits: ControlLimits
    private let handler: any ControlHandler
    private let closed: @Sendable (ControlConnection) -> Void

    private var phase = Phase.open
    private var input: LineSplitter
    private var output = OutputQueue()
    private let outgoing = Locked(Outgoing())
    /// Whether the client closed its end: what it said before still counts.
    private var isDeaf = false
    private var openRequests = 0
    private var reader: (any DispatchSourceRead)?
    private var isPaused = false
    private var writer: (any DispatchSourceWrite)?
    /// Told once everything has gone out.
    private var whenRead: [@Sendable () -> Void] = []

    init(
        _ socket: Descriptor, on queue: DispatchQueue, limits: ControlLimits, handler: any ControlHandler,
        closed: @escaping @Sendable (ControlConnection) -> Void
    ) {
        self.socket = socket
        self.queue = queue
        self.limits = limits
        self.handler = handler
        self.closed = closed
        input = LineSplitter(limit: limits.requestLength)
    }

    /// Queues a notification; any thread, never waits.
    ///
    /// A client that is too far behind gets ``ControlNotification/gap`` as its last one and is let go.
    public func notify(_ notification: ControlNotification) {
        guard let line = try? notification.encoded() else { return }
        if outgoing.withLock({ $0.add(OutputLines(bytes: line, isNotification: true)) }) { takeTurn() }
    }

    /// Queues many notifications at once; as ``notify(_:)`` in all else.
    public func notify(_ lines: LineNotifications) {
        if lines.count == 0 { return }
        let output = OutputLines(bytes: lines.bytes, count: lines.count, isNotification: true)
        if outgoing.withLock({ $0.add(output) }) { takeTurn() }
    }

    /// Whether so much waits for the client that whoever has much to tell should wait for ``whenRead(_:)``; any thread.
    ///
    /// Well before it is let go for that.
    public var isBehind: Bool {
        let (count, bytes) = outgoing.withLock { outgoing in
            (outgoing.fresh.count + outgoing.queued.count, outgoing.fresh.bytes + outgoing.queued.bytes)
        }
        return count >= limits.queuedNotifications * 5 / 8 || bytes >= limits.queuedNotificationBytes / 8
    }

    /// Calls once all that was told so far has been written to the client, on the server's queue; never if it goes before.
    public func whenRead(_ action: @escaping @Sendable () -> Void) {
        queue.async {
            if self.phase == .closed || self.isDeaf { return }
            self.whenRead.append(action)
            self.tellIfRead()
        }
    }

    private func tellIfRead() {
        guard output.isEmpty, outgoing.withLock({ $0.lines.isEmpty }) else { return }
        let actions = whenRead
        whenRead = []
        for action in actions { action() }
    }

    /// In the order in which they were told, notifications and answers alike.
    private func takeTurn() {
        queue.async {
            let outgoing = self.outgoing.withLock { outgoing in
                defer {
                    let queued = Backlog(
                        count: outgoing.queued.count + outgoing.fresh.count,
                        bytes: outgoing.queued.bytes + outgoing.fresh.bytes)
                    outgoing = Outgoing(queued: queued)
                }
                return outgoing
            }
            for lines in outgoing.lines { self.enqueue(lines) }
            self.openRequests -= outgoing.answered
            self.flow()
            self.noteBacklog()  // also of what was left out
            self.tellIfRead()
            self.endIfDone()
        }
    }

    private func noteBacklog() {
        let queued = Backlog(count: output.notifications, bytes: output.notificationBytes)
        outgoing.withLock { $0.queued = queued }
    }

    /// Lets the client go once it has what is queued for it; any thread.
    public func close() { queue.async { self.leave() } }

    // MARK: Reading; on the queue, as all that follows

    func start() {
        let source = DispatchSource.makeReadSource(fileDescriptor: socket.number, queue: queue)
        source.setEventHandler { [weak self] in self?.read() }
        source.setCancelHandler { [socket] in withExtendedLifetime(socket) {} }
        reader = source
        source.resume()
    }

    /// Reads to EAGAIN, because a hang-up is told once only; but lets others have their turn.
    func read() {
        for _ in 0..<16 {
            guard phase == .open, !isPaused else { return }
            do throws(SystemCallError) {
                let received = try receiveDescriptor(atMost: 64 * 1024, over: socket.number, from: "client")
                if received.bytes.isEmpty { return endInput() }
                input.append(received.bytes, descriptor: received.descriptor)
                takeRequests()
            } catch {
                return error.code == EAGAIN ? () : endInput()
            }
        }
        queue.async { self.read() }
    }

    private func takeRequests() {
        var messages: [(id: RequestID?, parameters: SendParameters)] = []
        while let line = input.next() {
            if line.bytes.isEmpty { continue }
            let request = ParsedRequest(line)
            if case .success(.send(let parameters)) = request.call {
                messages.append((request.id, parameters))
            } else {
                take(messages)
                messages = []
                take(request)
            }
        }
        take(messages)
        guard input.isOverLimit else { return flow() }
        answer(.null, .failure(.invalidRequest("a request has at most \(limits.requestLength) bytes")))
        leave()
    }

    private func endInput() {
        if let line = input.finish(), !line.bytes.isEmpty { take(ParsedRequest(line)) }
        stopReading()
        phase = .answering
        endIfDone()
    }

    private func take(_ request: ParsedRequest) {
        openRequests += 1
        let reply = ControlReply { [self, id = request.id] answer in
            let line = id.flatMap { try? answer.encoded($0) } ?? []
            answered(1, by: OutputLines(bytes: line, count: line.isEmpty ? 0 : 1, isNotification: false))
        }
        switch request.call {
        case .failure(let error): reply.fail(error)
        case .success(let call): handler.handle(call, from: self, reply: reply)
        }
    }

    /// Messages that came one behind the other.
    private func take(_ messages: [(id: RequestID?, parameters: SendParameters)]) {
        if messages.isEmpty { return }
        openRequests += messages.count
        handler.handle(ControlMessages(messages) { [self] count, lines in answered(count, by: lines) }, from: self)
    }

    /// Queues answers; any thread.
    private func answered(_ count: Int, by lines: OutputLines) {
        let isFirst = outgoing.withLock { outgoing in
            outgoing.answered += count
            return outgoing.add(lines)
        }
        if isFirst { takeTurn() }
    }

    /// Reads on only while this client's requests in hand and unread answers are few.
    private func flow() {
        let isBehind = openRequests >= limits.openRequests || output.answerBytes > limits.queuedAnswerBytes
        guard let reader, isBehind != isPaused else { return }
        isPaused = isBehind
        if isBehind {
            reader.suspend()
        } else {
            reader.resume()
            queue.async { self.read() }
        }
    }

    private func stopReading() {
        if isPaused { reader?.resume() }  // a suspended source can't be let go of
        isPaused = false
        reader?.cancel()
        reader = nil
    }

    // MARK: Writing

    private func answer(_ id: RequestID, _ answer: ControlReply.Answer) {
        if let line = try? answer.encoded(id) { enqueue(OutputLines(bytes: line, isNotification: false)) }
    }

    private func enqueue(_ lines: OutputLines) {
        if lines.isNotification, phase != .open, phase != .answering { return }
        put(lines)
        guard lines.isNotification,
            output.notifications > limits.queuedNotifications
                || output.notificationBytes > limits.queuedNotificationBytes
        else { return }
        output.dropNotifications()
        if let gap = try? ControlNotification.gap.encoded() { put(OutputLines(bytes: gap, isNotification: true)) }
        leave()
    }

    private func put(_ lines: OutputLines) {
        if phase == .closed || isDeaf || lines.bytes.isEmpty { return }
        output.append(lines)
        if writer == nil { write() }
    }

    /// Writes to EAGAIN, then waits for room.
    private func write() {
        while !output.isEmpty {
            let written = output.withFront { bytes in
                send(socket.number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if written >= 0 {
                output.drop(written)
            } else if errno == EAGAIN {
                noteBacklog()
                return awaitRoom()
            } else if errno != EINTR {
                isDeaf = true
                output = OutputQueue()
            }
        }
        writer?.cancel()
        writer = nil
        noteBacklog()
        flow()
        endIfDone()
    }

    private func awaitRoom() {
        if writer != nil { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: socket.number, queue: queue)
        source.setEventHandler { [weak self] in
            self?.write()
            self?.tellIfRead()
        }
        source.setCancelHandler { [socket] in withExtendedLifetime(socket) {} }
        writer = source
        source.resume()
    }

    // MARK: Ending

    func leave() {
        guard phase == .open || phase == .answering else { return }
        phase = .leaving
        stopReading()
        endIfDone()
        queue.asyncAfter(deadline: .now() + .milliseconds(limits.farewell)) { [weak self] in self?.disconnect() }
    }

    private func endIfDone() {
        guard output.isEmpty else { return }
        if phase == .leaving || (phase == .answering && openRequests == 0) { disconnect() }
    }

    private func disconnect() {
        if phase == .closed { return }
        phase = .closed
        whenRead = []
        stopReading()
        writer?.cancel()
        writer = nil
        shutdown(socket.number, CInt(SHUT_RDWR))
        closed(self)
    }
}

extension ControlConnection: Hashable {
    public static func == (left: ControlConnection, right: ControlConnection) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
