import Addressing
import Dispatch
import Glibc
import Identity
import SystemCalls

/// One connection, from its first byte to its last: bytes in and out, frames, and how far it has come.
///
/// Decides nothing about other links; ``Core`` does.
///
/// `@unchecked`: only touched on the core's queue.
final class Link: @unchecked Sendable {
    enum Phase: Equatable {
        /// TCP is being set up.
        case connecting
        /// The first bytes are being exchanged.
        case opening
        /// The peer is known; its Link frame, and on a chat link its greeting, are still to come.
        case introducing
        /// All is there; another process of the same peer is being asked whether it is alive.
        case probing
        case up
        /// Lost or idle: read to its end, frames still count.
        case draining
        /// On its way out; what comes doesn't count.
        case discarding
        case closed
    }

    let core: Core
    let isDialler: Bool
    /// What the link is being opened by, if we dialled it.
    let dial: Dial?
    let endpoint: Endpoint
    var phase: Phase
    /// When the present phase has taken too long.
    var deadline: Instant?
    var liveness: Liveness
    var outbox = Outbox()

    var peer: PeerID?
    var introduction: Introduction?
    var greeting: Frame?
    var name: LinkName?
    var replaces: LinkName?
    var purpose = LinkPurpose.chat
    /// As what an incoming connection is counted while it opens.
    var ticket: Gate.Ticket?
    /// The nonce of the Pings that ask the other process.
    var probe: UInt64?

    /// What opens the connection, until it is open; ``HandshakeQueue``'s while it computes.
    private(set) var opening: Opening?
    private let stream: SocketStream
    private let secure: any SecureStream
    private var early: [UInt8] = []
    private var earlyCount = 0  // bytes that came in the opening
    private var isComputing = false
    private var sealed = Sealed()
    private var hasSaidEnd = false
    private var decoder: FrameDecoder
    /// Frames that may be taken before others have their turn.
    private var framesLeft: Int
    private var hasTurnDue = false
    private var hasFlushDue = false
    private var isBlocked = false
    private var isHalfClosed = false
    private var hasEnded = false
    /// What writing failed with.
    private var failure: SystemCallError?

    /// Takes over a connection that came in, or, with a dial, one that is being made.
    init(_ stream: SocketStream, core: Core, dial: Dial?) {
        self.stream = stream
        self.core = core
        self.dial = dial
        isDialler = dial != nil
        endpoint = stream.remote
        phase = dial == nil ? .opening : .connecting
        secure = core.secureStream(for: dial)
        opening = Opening(secure, key: core.room, own: core.peer, isDialler: dial != nil)
        decoder = FrameDecoder(limit: core.frameLimit)
        framesLeft = core.limits.frameTurn
        liveness = Liveness(now: .now, limits: core.limits, isDialler: dial != nil)
    }

    func start() {
        stream.setHandlers(
            readable: { [weak self] in self?.read() },
            writable: { [weak self] in self?.writable() })
        if phase == .connecting { stream.setWriting(true) } else { stream.setReading(true) }
    }

    /// Whether we dialled it, or it comes from where a peer is or was.
    var isExpected: Bool { isDialler || ticket?.isKnown == true }

    /// Our own end.
    var local: Endpoint? { stream.local }

    private func writable() {
        stream.setWriting(false)
        if phase == .connecting {
            if let error = stream.connectionError() { return core.connectFailed(self, error) }
            phase = .opening
            deadline = nil
            return compute()
        }
        isBlocked = false
        flush()
    }

    // MARK: Reading

    /// Reads until there is nothing more for now; goes on after others have had their turn if that takes long.
    func read() {
        if hasTurnDue { return }
        framesLeft = core.limits.frameTurn
        for _ in 0..<core.limits.turns {
            guard isReadable else { return }
            if isHeld { return stream.setReading(false) }
            switch stream.read(into: core.buffer) {
            case .bytes(let count):
                liveness.didRead(.now, limits: core.limits)
                take(UnsafeRawBufferPointer(rebasing: core.buffer[..<count]))
            case .wouldBlock: return
            case .end: return end()
            case .failed(let error): return fail(error)
            }
        }
        core.queue.async { [weak self] in self?.read() }
    }

    private var isReadable: Bool {
        switch phase {
        case .connecting, .probing, .closed: false
        case .opening: !hasEnded && !isComputing
        case .introducing, .up, .draining, .discarding: !hasEnded && !hasTurnDue
        }
    }

    /// Whether its peer is read no further for now.
    var isHeld: Bool { phase == .up && peer.map(core.paused.contains) == true }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        switch phase {
        case .opening: open(bytes)
        case .discarding: break
        default:
            secure.feed(bytes)
            takePlaintext()
        }
    }

    /// Decrypts all that came.
    private func takePlaintext() {
        while ![.closed, .discarding].contains(phase), !hasEnded, !isHeld, !hasTurnDue {
            switch secure.read(into: core.plaintext) {
            case .bytes(let count):
                decoder.feed(UnsafeRawBufferPointer(rebasing: core.plaintext[..<count]))
                takeFrames()
            case .wait:
                if secure.hasOutput { flushSoon() }
                return
            case .end: return end()
            case .failed(let reason): return core.violated(self, reason)
            }
        }
    }

    // MARK: Opening

    private func open(_ bytes: UnsafeRawBufferPointer) {
        earlyCount += bytes.count
        if earlyCount > core.limits.openingBytes { return core.refuseOpening(self, .tooLong) }
        early.append(contentsOf: bytes)
        compute()
    }

    private func compute() {
        isComputing = true
        stream.setReading(false)
        core.handshakes.add(self)
    }

    /// What came since the last step.
    func takeEarly() -> [UInt8] {
        defer { early = [] }
        return early
    }

    /// A step of the opening has been computed.
    func advanced(_ progress: Opening.Progress) {
        isComputing = false
        guard phase == .opening else { return }
        switch progress.step {
        case .refuse(let refusal):
            if refusal == .ourself { sealed.append(progress.output) }
            return core.refuseOpening(self, refusal)
        case .wait:
            sealed.append(progress.output)
            flush()
        case .opened(let peer):
            sealed.append(progress.output)
            phase = .introducing
            opening = nil
            flushSoon()
            core.opened(self, peer)
            takePlaintext()
        }
        stream.setReading(isReadable)
        read()
    }

    private func takeFrames() {
        do throws(FrameError) {
            while phase == .introducing || phase == .up || phase == .draining, !isHeld, framesLeft > 0,
                let frame = try decoder.next()
            {
                framesLeft -= 1
                try core.received(frame, on: self)
            }
        } catch { core.violated(self, error.description) }
        if phase == .probing { stream.setReading(false) }
        if framesLeft == 0 { giveWay() }
    }

    /// Goes on with what is here after others have had their turn: a flood of small frames is to hold up nobody.
    private func giveWay() {
        guard !hasTurnDue, phase != .closed else { return }
        hasTurnDue = true
        stream.setReading(false)
        core.queue.async { [weak self] in
            guard let self else { return }
            hasTurnDue = false
            resumeReading()
        }
    }

    /// Takes up what came while the link was held back.
    func resumeReading() {
        guard phase != .closed, !hasTurnDue else { return }
        framesLeft = core.limits.frameTurn
        stream.setReading(isReadable)
        takeFrames()
        takePlaintext()
        core.queue.async { [weak self] in self?.read() }
    }

    private func end() {
        hasEnded = true
        stream.setReading(false)
        switch phase {
        case .draining, .discarding: if isHalfClosed { core.finished(self) }
        default: core.ended(self, failure.map(Self.end) ?? .closed)
        }
    }

    private func fail(_ error: SystemCallError) {
        hasEnded = true
        core.ended(self, Self.end(by: failure ?? error))
    }

    /// A connection that the system gave up is one on which nothing came for long (TCP_USER_TIMEOUT).
    private static func end(by error: SystemCallError) -> LinkEnd {
        [ETIMEDOUT, EHOSTUNREACH, ENETUNREACH].contains(error.code) ? .silent : .closed
    }

    // MARK: Writing

    func send(_ message: TransportMessage) { send(control: message.frame) }

    /// Goes before the session's frames.
    func send(control frame: Frame) {
        outbox.append(control: frame)
        flushSoon()
    }

    func send(_ frames: [Frame]) {
        outbox.append(frames)
        flushSoon()
    }

    /// Writes once all that is sent in this turn is there.
    func flushSoon() {
        guard !hasFlushDue, !isBlocked, phase != .closed else { return }
        hasFlushDue = true
        core.queue.async { [weak self] in self?.flush() }
    }

    private func flush() {
        hasFlushDue = false
        guard !isHalfClosed, phase != .closed, phase != .connecting else { return }
        for _ in 0..<core.limits.turns {
            if sealed.isEmpty, !seal() { return flushed() }
            switch sealed.withUnwritten(stream.write) {
            case .bytes(let count):
                liveness.didWrite(.now)
                sealed.wrote(count)
            case .wouldBlock:
                isBlocked = true
                return stream.setWriting(true)
            case .failed(let error): return writeFailed(error)
            }
        }
        flushSoon()
    }

    /// Encrypts the next frames, as many as are gathered for one write; false if there are none.
    private func seal() -> Bool {
        guard opening == nil else { return false }
        outbox.gather(core.limits.writeBatch)
        if !outbox.isEmpty {
            let count = outbox.withUnwritten { frames in
                secure.write(frames)
                return frames.count
            }
            core.wrote(outbox.wrote(count), on: self)
        }
        sealed.append(secure.takeOutput())
        return !sealed.isEmpty
    }

    /// What the peer said before it went, such as Goodbye, is still to be read.
    private func writeFailed(_ error: SystemCallError) {
        failure = error
        isHalfClosed = true
        read()
        if phase != .closed, !hasEnded { fail(error) }
    }

    private func flushed() {
        guard phase == .draining || phase == .discarding else { return }
        if !hasSaidEnd, opening == nil {
            hasSaidEnd = true
            secure.writeEnd()
            return flush()
        }
        isHalfClosed = true
        stream.halfClose()
        if hasEnded { core.finished(self) }
    }

    // MARK: Ending

    /// Says a last thing if there is one, says that nothing follows, and reads on to the end.
    ///
    /// `phase` is `draining` or `discarding`.
    func wind(down phase: Phase, saying reason: Farewell?, within limit: Duration) {
        self.phase = phase
        if let reason { outbox.append(last: TransportMessage.goodbye(reason).frame) }
        deadline = Instant.now.advanced(by: limit)
        core.note(deadline)
        if hasEnded, isHalfClosed { return core.finished(self) }
        if phase == .discarding { stream.setReading(!hasEnded) }
        flushSoon()
    }

    func close() {
        phase = .closed
        deadline = nil
        stream.cancel()
    }

    // MARK: Time

    var nextDeadline: Instant? {
        guard phase == .up else { return deadline }
        switch purpose {
        case .chat: return liveness.next(core.limits)
        case .blob: return max(liveness.lastRead, liveness.lastWritten).advanced(by: core.limits.blobIdle)
        }
    }
}
