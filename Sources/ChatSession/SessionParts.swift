import ChatModel
import Discovery
import Dispatch
import Glibc
import History
import Identity
import Locking
import Rx
import SystemCalls
import Transport

/// What a session is made of: the feedback loops, and the room's state between them.
struct SessionParts: Sendable {
    let history: History
    let blobs: BlobStore
    let links: LinksLoop
    let storage: StorageLoop
    let receipts: ReceiptsLoop
    let audit: Audit
    let verify: VerifyLoop
    let images: BlobsLoop
    let clock: ClockLoop
    let discovery: DiscoveryLoop
    let hints: HintsLoop
    let queue = DispatchQueue(label: "chat.session")
    let notice: String?
    /// Who had stored what when the session began.
    let delivery: DeliveryRecords
    let roomID: RoomID
    /// How a keyed room's member is announced.
    let concealment: Concealment?
    let transport: Transport
    let intake: Intake
    private let scheduler: SerialDispatchQueueScheduler
    private let start: RoomState.Start
    private static let recentLines = 200

    init(displayName: String, room: String, _ configuration: SessionConfiguration) throws {
        let me = configuration.key.peer
        let roomKey = configuration.roomKey ?? RoomKey(openRoom: RoomID(openRoom: room))
        roomID = roomKey.room
        concealment = configuration.roomKey.map { Concealment($0) }
        let (history, opened) = try History.open(
            directory: configuration.stateDirectory, room: roomID, key: configuration.key)
        blobs = try BlobStore(directory: configuration.stateDirectory)
        let admission = CallbackAnswers<PeerID, Bool> { _ in true }
        let instance = Locked(
            configuration.discovery == .none
                ? "" : concealment?.instance ?? Discovery.instanceName(displayName: displayName, peer: me))
        transport = Self.transport(displayName: displayName, room: roomKey, instance, admission, configuration)
        intake = Intake { [transport] peer, isPaused in
            if isPaused { transport.pauseReading(of: peer) } else { transport.resumeReading(of: peer) }
        }
        links = LinksLoop(transport, admission, intake)
        storage = StorageLoop(history, room: roomID, me: me, transport: transport, intake)
        receipts = ReceiptsLoop(history, room: roomID, key: configuration.key)
        audit = Audit(history)
        verify = VerifyLoop(history, audit, transport: transport)
        images = BlobsLoop(blobs, downloads: configuration.downloads, transport: transport, intake)
        discovery = DiscoveryLoop(mode: configuration.discovery, instance: instance)
        hints = HintsLoop(room: roomID, key: configuration.key, intake)
        scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "chat.session.serial")
        clock = ClockLoop(on: scheduler)
        notice = opened.notice

        var start = RoomState.Start(me: me, displayName: displayName, ownLog: opened.ownLog)
        start.limits = configuration.limits
        start.ranges = opened.ranges
        start.clock = opened.latestClock
        start.forks = opened.forks
        start.isNewIncarnation = opened.isNewIncarnation
        start.places = configuration.places
        start.recent = try history.queue.sync { try history.lines(last: Self.recentLines) }.compactMap {
            Transcript($0, me: me)
        }
        start.unfinished = opened.unfinishedImages.compactMap { Transcript($0, me: me) }
        start.seed = randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        start.records = history.queue.sync { history.knownPeers() }.reduce(into: [:]) { $0[$1.peer] = $1.record }
        delivery = history.queue.sync { history.deliveryRecords() }
        start.holdings = delivery.holdings
        start.receipts = delivery.receipts
        start.admission = configuration.admission
        start.room = room
        self.history = history
        self.start = start
    }

    private static func transport(
        displayName: String, room: RoomKey, _ instance: Locked<String>, _ admission: CallbackAnswers<PeerID, Bool>,
        _ configuration: SessionConfiguration
    ) -> Transport {
        let limit = configuration.limits.autoFetch
        let features = Hello.takesHints | (configuration.admission == .open ? 0 : Hello.saysWaiting)
        return Transport(
            room: room, key: configuration.key, limits: configuration.transportLimits,
            mayLink: { admission($0) },
            greeting: {
                SessionMessage.hello(
                    Hello(
                        features: features, displayName: displayName, instance: instance.withLock { $0 },
                        wallTime: Clock.wall, autoFetchLimit: limit)
                ).frame
            },
            frameLimit: SessionMessage.limit(ofKind:))
    }

    /// The room at work: subscribing starts its loops, disposing stops them.
    func effects(of commands: Observable<RoomEvent>) -> Observable<RoomEffect> {
        let loops: [any FeedbackLoop] = [
            links, storage, receipts, verify, images, clock, discovery, hints,
        ]
        return Observable.system(
            initialState: RoomState(start),
            reduce: { [intake] state, event in
                let effects = RoomState.reduce(into: &state, RoomInput(event, now: Clock.now, wall: Clock.wall))
                intake.reduced(event, effects)
                return effects
            },
            scheduler: scheduler, feedback: loops.map(\.feedback) + [{ _ in commands }])
    }

    /// Listens where it was asked to, else on the port of last time if that is free, else on any.
    func listen(on address: ListenAddress?) throws -> UInt16 {
        let port = try address.map { try transport.listen(on: $0) } ?? listenEverywhere()
        hints.start(on: address, port: port)
        return port
    }

    private func listenEverywhere() throws -> UInt16 {
        let last = history.queue.sync { history.setting("port") }.flatMap { UInt16($0) } ?? 0
        let port: UInt16
        do throws(SystemCallError) {
            port = try transport.listen(on: .everywhere(port: last))
        } catch {
            guard last != 0, error.code == EADDRINUSE || error.code == EACCES else { throw error }
            port = try transport.listen(on: .everywhere(port: 0))
        }
        if port != last { try history.queue.sync { try history.set("port", "\(port)") } }
        return port
    }

    /// Takes leave of the network: both take a moment, so side by side.
    func leave() {
        hints.stop()
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            if index == 0 { transport.close() } else { discovery.stop() }
        }
        clock.stop()
    }

    /// Waits for what is being written.
    func close() {
        blobs.queue.sync {}
        history.queue.sync {
            storage.commit()
            receipts.keep()
            history.close()
        }
    }
}
