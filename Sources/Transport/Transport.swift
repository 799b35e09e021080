public import Addressing
import Dispatch
public import Identity
import Locking
public import Rx
public import SystemCalls

/// Links to peers: authenticated connections that carry opaque frames.
///
/// Knows nothing of chat. Keeps one chat link with each peer, whoever dialled it and however often, and a second link
/// while blobs move; notices peers that fall silent or leave; never dials a chat link by itself. Any thread may call it.
///
/// The PeerID in every event is the key that the other end of the connection has shown to hold, in the handshake. No
/// frame carries an id of its speaker, so there is none that could contradict it.
public final class Transport: Sendable {
    let core: Core
    private let dials = Locked<UInt64>(0)
    private static let queueOwner = DispatchSpecificKey<ObjectIdentifier>()

    /// Makes a transport without links.
    ///
    /// - Parameters:
    ///   - room: Peers that can't prove that they hold it are closed without an answer.
    ///   - key: Who we are.
    ///   - limits: Timers and limits.
    ///   - mayLink: Whether a peer may have a link; a connection is closed without a word as soon as it is known to be of
    ///     one that may not. Called on Transport's queue; when its answers change, ``askAgainWhoMayLink()``.
    ///   - greeting: The session's first frame on every chat link, kind 16 or more; called on Transport's queue.
    ///   - frameLimit: Largest body of a frame of the session's, by kind, in bytes; `nil` for a kind that it doesn't
    ///     know. Called on Transport's queue.
    public init(
        room: RoomKey, key: SigningKey, limits: TransportLimits = .init(),
        mayLink: @escaping @Sendable (PeerID) -> Bool = { _ in true }, greeting: @escaping @Sendable () -> Frame,
        frameLimit: @escaping @Sendable (UInt8) -> Int?
    ) {
        core = Core(
            room: room, key: key, limits: limits, mayLink: mayLink, greeting: greeting, frameLimit: frameLimit)
        core.queue.setSpecific(key: Self.queueOwner, value: ObjectIdentifier(core))
    }

    deinit {
        let core = core
        core.queue.async { core.leave {} }
    }

    /// What happens from now on; delivered on Transport's queue, one event at a time.
    ///
    /// Subscribe before listening or dialling. Completes after ``close()``.
    public var events: Observable<TransportEvent> { core.events.asObservable() }

    /// Waits for peers.
    ///
    /// - Returns: The port.
    /// - Throws: The call that failed, `EADDRINUSE` among others.
    public func listen(on address: ListenAddress = .everywhere(port: 0)) throws(SystemCallError) -> UInt16 {
        let listener = try Listener(on: address)
        core.queue.async { [core] in core.accept(from: listener) }
        return listener.port
    }

    /// Tries to get a chat link at one of some addresses; how it ended is told by ``TransportEvent/dialled(_:_:)``.
    ///
    /// - Parameters:
    ///   - endpoints: Tried in parallel, each ``TransportLimits/stagger`` after the one before or as soon as that failed.
    ///   - peer: If another one answers, that address has failed.
    ///   - replacingSilent: The peer's present link was found silent: the new one takes its place. The dial then ends
    ///     within ``TransportLimits/redial``.
    /// - Returns: What names this dial in the events.
    @discardableResult
    public func dial(_ endpoints: [Endpoint], expecting peer: PeerID?, replacingSilent: Bool = false) -> DialID {
        let number = dials.withLock { number in
            number += 1
            return number
        }
        let id = DialID(number: number)
        core.queue.async { [core] in
            core.begin(
                Dial(
                    id: id, purpose: .chat, endpoints: endpoints, expecting: peer, replacesSilent: replacingSilent))
        }
        return id
    }

    /// Queues frames for a peer.
    ///
    /// Over chat they go on the kept link, and nowhere if there is none. Over blob they wait for a blob link, which is
    /// opened if there is a chat link; ``TransportEvent/blobLinkDown(_:)`` says that they didn't go.
    ///
    /// A peer for which more than ``TransportLimits/queuedBytes`` wait loses the link.
    ///
    /// - Parameters:
    ///   - frames: Of kind 16 or more, within the limits that the peer has for them.
    ///   - peer: Who gets them.
    ///   - purpose: Over which link.
    public func send(_ frames: [Frame], to peer: PeerID, over purpose: LinkPurpose) {
        core.ledger.add(frames.reduce(0) { $0 + $1.encodedLength }, to: peer, over: purpose)
        core.queue.async { [core] in core.send(frames, to: peer, over: purpose) }
    }

    /// Ends every link with a peer that broke a rule of the session's; told as ``LinkEnd/violated(_:)``.
    ///
    /// - Parameters:
    ///   - peer: Nothing happens if it has no link.
    ///   - reason: Which rule, for the log.
    public func disconnect(_ peer: PeerID, reason: String) {
        core.queue.async { [core] in core.disconnect(peer, reason) }
    }

    /// Takes their links from those that may have none any more; they are told nothing.
    public func askAgainWhoMayLink() {
        core.queue.async { [core] in core.askAgainWhoMayLink() }
    }

    /// Names addresses at which peers are expected, beside those at which some have been linked.
    ///
    /// When strangers crowd, some room is kept for them; and they are let in from beyond our own links.
    public func expect(at addresses: [IPAddress]) {
        core.queue.async { [core] in core.gate.know(addresses) }
    }

    /// Lets connections in from addresses beyond our own links, at which peers say that they are.
    ///
    /// No room is kept for them. The latest ``TransportLimits/hintedAddresses`` count.
    public func admit(from addresses: [IPAddress]) {
        core.queue.async { [core] in core.gate.hint(addresses) }
    }

    /// Reads nothing more from a peer until ``resumeReading(of:)``: what it sends waits with it.
    ///
    /// From inside an observer it holds at once; else what was read already is still told. Meanwhile the peer counts as
    /// alive.
    public func pauseReading(of peer: PeerID) {
        if isOnQueue { return core.pauseReading(of: peer) }
        core.queue.async { [core] in core.pauseReading(of: peer) }
    }

    /// Goes on reading from a peer.
    public func resumeReading(of peer: PeerID) {
        core.queue.async { [core] in core.resumeReading(of: peer) }
    }

    /// Bytes given to ``send(_:to:over:)`` that are neither handed to the system yet nor dropped.
    public func queuedBytes(to peer: PeerID, over purpose: LinkPurpose) -> Int {
        core.ledger.bytes(to: peer, over: purpose)
    }

    /// Waits until at most so many of the bytes of ``queuedBytes(to:over:)`` are left.
    ///
    /// - Parameters:
    ///   - peer: Whom they are for.
    ///   - purpose: Over which link.
    ///   - bytes: How many may be left.
    ///   - perform: Runs once: at once on this thread, or later on any; it must not wait.
    public func whenQueued(
        to peer: PeerID, over purpose: LinkPurpose, isAtMost bytes: Int, _ perform: @escaping @Sendable () -> Void
    ) {
        core.ledger.whenAtMost(bytes, to: peer, over: purpose, perform)
    }

    /// Writes what is queued, says that we leave, and closes everything; no link or dial is told of any more.
    ///
    /// Waits until that is done, at most ``TransportLimits/closing``; from inside an observer it returns at once.
    public func close() {
        let done = DispatchSemaphore(value: 0)
        core.queue.async { [core] in core.leave { done.signal() } }
        if !isOnQueue { done.wait() }
    }

    private var isOnQueue: Bool { DispatchQueue.getSpecific(key: Self.queueOwner) == ObjectIdentifier(core) }
}
