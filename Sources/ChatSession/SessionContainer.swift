public import ChatModel
public import Discovery
public import Dispatch
public import Identity
import Locking
public import Rx
public import Transport

/// What a session needs beside its names.
public struct SessionConfiguration: Sendable {
    /// Where history, blobs and settings are kept.
    public var stateDirectory: String
    /// Where received images are put.
    public var downloads: String
    public var key: SigningKey
    /// What lets into a keyed room; `nil` for an open one.
    public var roomKey: RoomKey?
    public var discovery = DiscoveryMode.auto
    /// `HOST:PORT` of peers to dial whatever is discovered.
    public var places: [String] = []
    /// Who is let in.
    public var admission = Admission.open
    public var limits = RoomLimits()
    public var transportLimits = TransportLimits()

    public init(stateDirectory: String, downloads: String, key: SigningKey) {
        self.stateDirectory = stateDirectory
        self.downloads = downloads
        self.key = key
    }
}

/// This peer's membership of a room: advertises, browses, links, and keeps the transcript.
///
/// Everything is delivered on the session's own serial queue.
public final class SessionContainer: Sendable {
    public let displayName: String
    public let room: String
    public let roomID: RoomID
    public let peer: PeerID
    /// What was found amiss with the stored history at the start, for the log.
    public let notice: String?
    /// Lines for the log of whoever runs this session; hot.
    public let log: Observable<String>

    /// Where everything is delivered; others may run on it who never wait.
    public var queue: DispatchQueue { parts.queue }

    let parts: SessionParts
    let commands = PublishSubject<RoomEvent>()
    let replies = Replies()
    let book = TransferBook()
    private let statuses = Locked<[PeerID: PeerStatus]>([:])
    private let running = SerialDisposable()
    private let listening = Locked<UInt16?>(nil)
    private let news = PublishSubject<[Transcript]>()
    private let lines = PublishSubject<Transcript>()
    private let updates = PublishSubject<Transcript>()
    /// What this host said about the room since it joined; not stored.
    let notices = Notices()
    /// How images stand, which the history doesn't know until they end.
    let images = LiveImages()
    /// Who has stored what.
    let ledger: DeliveryLedger
    /// Who was asked what is on its disk, and the answers.
    let verifications = PublishSubject<RoomEffect>()
    private let notes = PublishSubject<String>()

    /// Opens what is stored of a room; ``join(on:)`` goes in.
    ///
    /// - Parameters:
    ///   - displayName: What people see; 1 to 63 bytes.
    ///   - room: The room's name, in lower case.
    ///   - configuration: Where things are kept, and how peers are found.
    /// - Throws: ``SessionError/invalid(_:)`` for a bad name; `HistoryError` or `BlobError` when the state can't be used.
    public init(displayName: String, room: String, configuration: SessionConfiguration) throws {
        guard Names.isValid(displayName: displayName, serviceType: room) else {
            throw SessionError.invalid(
                Names.complaint(displayName: displayName) ?? Names.complaint(room: room) ?? "invalid names")
        }
        parts = try SessionParts(displayName: displayName, room: room, configuration)
        ledger = DeliveryLedger(parts.delivery)
        self.displayName = displayName
        self.room = room
        roomID = parts.roomID
        peer = configuration.key.peer
        notice = parts.notice
        log = Observable.merge([
            parts.links.log, parts.storage.log, parts.receipts.log, parts.verify.log, parts.images.log,
            parts.discovery.log,
            notes.asObservable(),
        ])
    }

    /// Goes into the room: links with peers from now on, and announces itself.
    ///
    /// Subscribe to what is of interest first; it may happen at once.
    ///
    /// - Parameter address: Where to wait for peers. `nil`: on all addresses, on the port of last time if it is free.
    /// - Returns: The TCP port.
    /// - Throws: `SystemCallError` when the port can't be listened on.
    public func join(on address: ListenAddress? = nil) throws -> UInt16 {
        running.disposable = parts.effects(of: commands.asObservable()).subscribe(onNext: { [weak self] effect in
            self?.show(effect)
        })
        commands.onNext(.tick)
        let port = try parts.listen(on: address)
        listening.withLock { $0 = port }
        parts.discovery.start(
            Announcement(
                displayName: displayName, room: room, peer: peer, port: port, concealment: parts.concealment))
        return port
    }

    /// The TCP port that peers dial; 0 before ``join(on:)``.
    public var port: UInt16 { listening.withLock { $0 } ?? 0 }

    private func show(_ effect: RoomEffect) {
        switch effect {
        case .emit(let news):
            for line in news where line.direction == .local || line.isImage {
                if line.direction == .local { notices.add(line) }
                images.note(line)
            }
            self.news.onNext(news)
            if lines.hasObservers { for line in news { lines.onNext(line) } }
        case .update(let line):
            images.note(line)
            updates.onNext(line)
        case .log(let line): notes.onNext(line)
        case .peer(let status): statuses.withLock { $0[status.peer] = status }
        case .forget(let peer): statuses.withLock { $0[peer] = nil }
        case .transfer(let id, let change): book.take(change, of: id)
        case .reply(let command, let reply): replies.give(reply, to: command)
        case .replyStored(let appended, let receivers):
            replies.give(
                appended.map { entry in
                    (entry.command, .stored(entry.id, number: entry.number, receivers: receivers))
                })
        case .asked, .verified: verifications.onNext(effect)
        case .held, .enroll, .keepReceipt: ledger.take(effect)
        default: break
        }
    }

    /// Everything that happens in the room, as one stream: peers that come and go, texts, images that start.
    ///
    /// Hot. Never fails; completes when the session leaves.
    public var received: Observable<Transcript> { lines.asObservable() }

    /// The same, each time all that came at once; for who writes much at a time.
    public var receivedTogether: Observable<[Transcript]> { news.asObservable() }

    /// How started images go on and end: each is a line of ``received`` again, with another state.
    ///
    /// Hot. Never fails; completes when the session leaves.
    public var update: Observable<Transcript> { updates.asObservable() }

    /// Each step of each transfer, in both directions; hot.
    public var transfers: Observable<TransferSnapshot> { book.snapshots }

    /// How the peers stand that were met or seen since the session joined, in the order of their keys.
    public var peers: [PeerStatus] { statuses.withLock { $0 }.values.sorted { $0.peer < $1.peer } }

    /// The discovery provider at work, `nil` while none answers.
    public var discoveryProvider: BehaviorRelay<String?> { parts.discovery.provider }

    /// Leaves: says goodbye to peers, withdraws the announcement, closes what is stored.
    ///
    /// Takes up to 2 s. Commands that are still waiting fail.
    public func leave() {
        parts.leave()
        running.dispose()
        replies.failAll(.storage("leaving the room"))
        parts.close()
        news.onCompleted()
        lines.onCompleted()
        updates.onCompleted()
    }
}

/// Why the session refused something.
public enum SessionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A name that can't be; why.
    case invalid(String)
    /// A text over the limit, in bytes.
    case tooLong(length: Int, limit: Int)
    case empty
    /// No line has this event's id.
    case unknownLine(EventID)
    /// A cursor of another database, or of what this one lost.
    case foreignCursor

    public var description: String {
        switch self {
        case .invalid(let why): why
        case .tooLong(let length, let limit): "the text has \(length) bytes; the limit is \(limit)"
        case .empty: "there is nothing to send"
        case .unknownLine(let id): "there is no line \(id)"
        case .foreignCursor:
            "the cursor is of another history, lost or restored since; what is new can't be told: read the log anew"
        }
    }
}
