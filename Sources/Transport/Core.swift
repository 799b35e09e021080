import Addressing
import Dispatch
import Glibc
import Identity
import Rx
import SystemCalls

/// All links of one process: decides, on one queue, what each of them does.
///
/// `@unchecked`: what changes is only touched on `queue`.
final class Core: @unchecked Sendable {
    private static let bufferLength = 64 * 1024  // bytes
    private static let recordLength = 16 * 1024  // bytes: the longest plaintext of a TLS record

    let queue = DispatchQueue(label: "groupchat.transport")
    let room: RoomKey
    let peer: PeerID
    let limits: TransportLimits
    let mayLink: @Sendable (PeerID) -> Bool
    let greeting: @Sendable () -> Frame
    let frameLimit: @Sendable (UInt8) -> Int?
    let instance = ProcessInstance()
    let events = PublishSubject<TransportEvent>()
    let ledger = QueueLedger()
    /// What one read fills; nothing in it outlives the handling of that read.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferLength, alignment: 16)
    /// What decrypting one record of it fills.
    let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: recordLength, alignment: 16)
    let handshakes: HandshakeQueue

    var links: [ObjectIdentifier: Link] = [:]
    var neighbours: [PeerID: Neighbour] = [:]
    var dials: [ObjectIdentifier: Dial] = [:]
    var gate: Gate
    var lostSilently: [PeerID: LinkName] = [:]
    var paused: Set<PeerID> = []
    private let context: TLSContext
    private var lastDialNumber: UInt64 = 0
    private var listeners: [Listener] = []
    private var refusals: RefusalLog
    /// Asks what our interfaces say.
    var askNetworks = LocalNetworks.current
    private var networks = LocalNetworks()
    private var networksAsOf: Instant?
    private var closing: (@Sendable () -> Void)?
    private(set) var isClosing = false

    var timer: (any DispatchSourceTimer)?
    var timerDue: Instant?

    init(
        room: RoomKey, key: SigningKey, limits: TransportLimits, mayLink: @escaping @Sendable (PeerID) -> Bool,
        greeting: @escaping @Sendable () -> Frame, frameLimit: @escaping @Sendable (UInt8) -> Int?
    ) {
        self.room = room
        peer = key.peer
        context = TLSContext(key)
        handshakes = HandshakeQueue(on: queue, limit: limits.handshakes)
        self.limits = limits
        self.mayLink = mayLink
        self.greeting = greeting
        self.frameLimit = { kind in
            kind < Frame.firstSessionKind ? TransportMessage.limit(ofKind: kind) : frameLimit(kind)
        }
        gate = Gate(limits)
        refusals = RefusalLog(interval: limits.reportInterval)
    }

    deinit {
        buffer.deallocate()
        plaintext.deallocate()
    }

    /// The encryption of a new connection; `dial` is `nil` for one that came in.
    func secureStream(for dial: Dial?) -> any SecureStream {
        TLSStream(context, isDialler: dial != nil, expecting: dial?.expecting)
    }

    func tell(_ event: TransportEvent) {
        if !isClosing { events.on(.next(event)) }
    }

    func tellRefused(_ endpoint: Endpoint, _ reason: String, perAddress: Bool = true) {
        let address = perAddress ? endpoint.address : nil
        if refusals.isNews(reason, from: address, now: .now) { tell(.refused(endpoint, reason)) }
    }

    func nextDialNumber() -> UInt64 {
        lastDialNumber += 1
        return lastDialNumber
    }

    // MARK: Accepting

    func accept(from listener: Listener) {
        guard !isClosing else { return listener.cancel() }
        listeners.append(listener)
        listener.start(on: queue, batch: limits.acceptBatch, pause: limits.acceptPause) {
            [weak self] descriptor, remote in
            self?.accepted(descriptor, from: remote)
        } failed: { [weak self] error in
            self?.tellRefused(listener.endpoint, error.description, perAddress: false)
        }
    }

    private func accepted(_ descriptor: Descriptor, from remote: Endpoint) {
        let ticket: Gate.Ticket
        do throws(Gate.Refusal) {
            ticket = try gate.enter(
                remote.address, networks: localNetworks(), chance: .random(in: 0..<1), now: .now)
        } catch {
            SocketStream.resetOnClose(descriptor)
            return tellRefused(remote, error.description)
        }
        do throws(SystemCallError) {
            try SocketStream.configure(descriptor, limits: limits, subject: remote.description)
        } catch {
            gate.leave(ticket)
            return tellRefused(remote, error.description)
        }
        let link = Link(SocketStream(descriptor, remote: remote, queue: queue), core: self, dial: nil)
        link.ticket = ticket
        link.deadline = Instant.now.advanced(by: limits.opening)
        begin(link)
    }

    func begin(_ link: Link) {
        links[ObjectIdentifier(link)] = link
        note(link.deadline)
        link.start()
    }

    /// Interfaces are asked for again when what we know is older than two seconds.
    func localNetworks() -> LocalNetworks {
        let now = Instant.now
        if let asOf = networksAsOf, now - asOf < .seconds(2) { return networks }
        networks = askNetworks()
        networksAsOf = now
        return networks
    }

    // MARK: Closing

    /// Says Goodbye on all links, after all that is queued.
    ///
    /// - Parameter done: Runs once, when all is written and closed, or it took too long.
    func leave(_ done: @escaping @Sendable () -> Void) {
        guard !isClosing else { return done() }
        isClosing = true
        closing = done
        for listener in listeners { listener.cancel() }
        listeners = []
        dials = [:]
        for link in Array(links.values) {
            if link.phase == .up {
                link.wind(down: .discarding, saying: .leaving, within: limits.closing)
            } else if link.phase == .draining {
                link.wind(down: .discarding, saying: nil, within: limits.closing)
            } else if link.phase != .discarding {
                drop(link)
            }
        }
        neighbours = [:]
        queue.asyncAfter(deadline: .now() + .nanoseconds(limits.closing.nanoseconds)) { [self] in closed() }
        if links.isEmpty { closed() }
    }

    private func closed() {
        guard let done = closing.take() else { return }
        for link in Array(links.values) { drop(link) }
        timer?.cancel()
        timer = nil
        events.on(.completed)
        done()
    }

    /// Closes a link's socket and forgets the link.
    func drop(_ link: Link) {
        guard links.removeValue(forKey: ObjectIdentifier(link)) != nil else { return }
        if let ticket = link.ticket.take() { gate.leave(ticket) }
        forget(link.outbox.takeUnsent(), of: link)
        forgetBytes(link.outbox.sessionBytes, of: link)
        link.close()
        if links.isEmpty { closed() }
    }

    // MARK: Counting

    func wrote(_ count: Int, on link: Link) { forgetBytes(count, of: link) }

    func forget(_ frames: [Frame], of link: Link) {
        forgetBytes(frames.reduce(0) { $0 + $1.encodedLength }, of: link)
    }

    private func forgetBytes(_ count: Int, of link: Link) {
        if let peer = link.peer { ledger.add(-count, to: peer, over: link.purpose) }
    }
}
