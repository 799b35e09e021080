public import Identity

/// What one peer knows of its room: who is there, what each has, what is on its way.
///
/// Changed by ``reduce(into:_:)`` alone. Holds no socket, file, clock or source of randomness, so that the same room runs
/// for real, in tests under virtual time and in a simulation.
public struct RoomState: Sendable {
    /// What the room starts with.
    public struct Start: Sendable {
        public var me: PeerID
        public var displayName: String
        public var ownLog: LogID
        public var limits = RoomLimits()
        /// What is on our disk of each log.
        public var ranges: [LogID: EventRanges] = [:]
        public var clock = HybridTime(value: 0)
        /// Logs whose authors gave one number to two events, with the batch that contradicts ours.
        public var forks: [LogID: Batch] = [:]
        /// Whether nobody can hold events of ``ownLog`` that we lack: it was opened by this process.
        public var isNewIncarnation = true
        /// `HOST:PORT` of peers to dial whatever is discovered.
        public var places: [String] = []
        /// Peers met or judged before.
        public var records: [PeerID: PeerRecord] = [:]
        public var admission = Admission.open
        /// The room's name, for notices.
        public var room = ""
        /// Images whose bytes aren't all here yet.
        public var unfinished: [Transcript] = []
        /// The log's newest lines: how images of others ended is told to their authors once more, who may be waiting.
        public var recent: [Transcript] = []
        /// What others are known to have of own logs.
        public var holdings: [PeerID: [LogID: [ClosedRange<UInt64>]]] = [:]
        /// Verified, and one for each holder; our own newest one too.
        public var receipts: [Receipt] = []
        /// For the jitter of dials.
        public var seed: UInt64 = 0

        public init(me: PeerID, displayName: String, ownLog: LogID) {
            self.me = me
            self.displayName = displayName
            self.ownLog = ownLog
        }
    }

    let me: PeerID
    let displayName: String
    var ownLog: LogID
    let limits: RoomLimits
    let room: String
    let admission: Admission
    var now: UInt64 = 0
    var wall: UInt64 = 0
    var clock: HybridTime
    var random: SplitMix64
    var timers = RoomTimers()
    var effects: [RoomEffect] = []

    var peers: [PeerID: Peer] = [:]
    var places: [Place]
    /// By instance.
    var sightings: [String: Sighting] = [:]
    var lastDial: UInt64 = 0
    var dials: [DialNumber: Dialled] = [:]
    /// What is to be dialled as soon as there are few enough dials under way.
    var waitingDials: [Dialled] = []
    /// Peers without a record that are neither linked nor at the door, oldest first.
    var newcomers: [PeerID] = []
    /// Where we say that we are.
    var ownHint: PeerHint?
    /// Where those say that they are whom we have links with.
    var hints: [PeerID: PeerHint] = [:]
    /// What members' words about others have come to.
    var credits: [PeerID: Credit] = [:]

    var logs: [LogID: Log]
    /// How many events each holder has been asked for that haven't come.
    var wantedEvents: [PeerID: UInt64] = [:]
    /// What to ask for as soon as a holder owes less.
    var waitingWants = WaitingLogs()
    var unsaid: Set<LogID> = []
    /// Of these others are told later who seem to get them from their authors as we do.
    var unsaidSlowly: Set<LogID> = []
    /// When the first event came.
    var started: UInt64?
    /// What is to be said once a peer has told what it has of our log; `nil` once one has.
    var heldBack: [Saying]?

    /// What each other peer is known to have stored.
    var holdings: [PeerID: [LogID: [ClosedRange<UInt64>]]]
    /// The newest of each holder, verified; our own too.
    var receipts: [PeerID: Receipt]
    var checks: [PeerID: ReceiptCheck] = [:]
    var receiptCounter: UInt64
    /// Whether there is news for a receipt of ours, and when the last one was given and others were passed on.
    var isReceiptDue = false
    var lastReceipt: UInt64?
    var lastPass: UInt64?
    /// When each author wrote last.
    var lastWords: [PeerID: UInt64] = [:]
    /// In which order logs changed last.
    var stamps: [LogID: UInt64] = [:]
    var lastStamp: UInt64 = 0
    /// For whom own events are now.
    var enrolled: (log: LogID, members: [PeerID])?

    var transfers: [EventID: Transfer] = [:]
    var arrivals: [EventID: Transcript] = [:]
    var fetches: [BlobRoot: Fetch] = [:]
    /// How our newest arrivals ended, oldest first: what is told again, since a link that broke may have swallowed it.
    var ended: [(author: PeerID, state: BlobState)] = []
    /// Who was noticed to run twice.
    var clones: Set<PeerID> = []

    var door: [PeerID: Guest] = [:]
    /// Who gets no link: blocked for good, or refused in this run.
    var shutOut: Set<PeerID> = []
    /// About whom the user was asked.
    var askedAbout: Set<PeerID> = []
    /// Whether a host has said that it doesn't let us in yet, and none has since.
    var isOutside = false
    /// Authors never met on a link of our own, with their names as last heard.
    var strangers: [PeerID: String] = [:]
    /// Authors of whom it was said that they have too many logs.
    var crowded: Set<PeerID> = []
    /// Keys of authors that were checked, which takes a while.
    var authors: [Bytes32: PeerID] = [:]

    /// Makes a room; what is to be done at its start comes with the effects of the first event.
    public init(_ start: Start) {
        me = start.me
        displayName = start.displayName
        ownLog = start.ownLog
        limits = start.limits
        room = start.room
        admission = start.admission
        clock = start.clock
        random = SplitMix64(seed: start.seed)
        places = start.places.map { Place(address: $0) }
        logs = start.ranges.mapValues { Log($0) }
        holdings = start.holdings
        receipts = start.receipts.reduce(into: [:]) { $0[$1.holder] = $1 }
        receiptCounter = receipts[me]?.counter ?? 0
        for (peer, record) in start.records where peer != start.me { peers[peer] = Peer(record) }
        shutOut = Set(start.records.filter { $0.value.verdict == .blocked }.keys)
        for log in logs.keys where log.author != me && peers[log.author]?.record?.isMet != true {
            strangers[log.author] = ""
        }
        if !shutOut.isEmpty { effects.append(.shutOut(shutOut)) }
        for (log, proof) in start.forks { logs[log, default: Log()].proof = proof }
        heldBack = start.isNewIncarnation ? nil : []
        for receipt in start.receipts where receipt.holder != me { recall(receipt) }
        for index in places.indices { dial(place: index) }
        expectRemembered()
        dialRemembered()
        for line in start.recent {
            remember(line)
            wrote(line.peer, at: line.time)
        }
        for line in start.unfinished { resume(line) }
    }

    mutating func drain() -> [RoomEffect] {
        defer { effects = [] }
        return effects
    }
}

extension RoomState {
    /// Takes one event.
    ///
    /// - Returns: What is to be done about it, in this order.
    public static func reduce(into state: inout RoomState, _ input: RoomInput) -> [RoomEffect] {
        state.now = max(state.now, input.now)
        state.wall = input.wall
        state.started = state.started ?? state.now
        state.take(input.event)
        return state.drain()
    }

    private mutating func take(_ event: RoomEvent) {
        switch event {
        case .found(let peer, _, let endpoints): found(peer, at: endpoints)
        case .lost(let peer): lost(peer)
        case .sighted(let instance, let endpoints): sighted(instance, at: endpoints)
        case .vanished(let instance): vanished(instance)
        case .ownHint(let hint): ownHint(hint)
        case .hinted(let sender, let hints): hinted(hints, by: sender)
        case .linkUp(let peer, let endpoint, let isDialler): linkUp(peer, endpoint, isDialler: isDialler)
        case .message(let peer, let message): take(message, from: peer)
        case .malformed(let peer, let error): effects.append(.disconnect(peer, reason: "\(error)"))
        case .silent(let peer): silent(peer)
        case .linkDown(let peer, let ending): linkDown(peer, ending)
        case .blobLinkDown(let peer): sourceFailed(peer)
        case .dialled(let number, let outcome): dialled(number, outcome)
        case .clone(let peer): clone(peer)
        case .appended(let appended, let batches): self.appended(appended, batches)
        case .appendFailed(let commands, let failure):
            for command in commands { effects.append(.reply(command, .failed(failure))) }
        case .stored(let peer, let batches): stored(batches, from: peer)
        case .batchRefused(let peer, let error):
            forgetEmptyLogs()
            effects.append(.disconnect(peer, reason: "\(error)"))
        case .answered(let peer, let want): answered(want, by: peer)
        case .receiptVerified(let receipt): receiptVerified(receipt)
        case .receiptRefused(let receipt, let peer): receiptRefused(receipt, from: peer)
        case .verifyAnswered(let peer): peers[peer]?.isVerifying = false
        case .blobProgress, .blobHashesRefused, .chunkRefused, .blobFailed, .placed, .placeFailed: takeBlob(event)
        case .tick: tick()
        case .say(let sayings): for saying in sayings { say(saying) }
        case .cancel(let transfer): cancel(transfer)
        case .verify(let question, let asked): verify(question, asked)
        case .decide(let peer, let decision, let command): decide(peer, decision, command)
        case .judged(let command): effects.append(.reply(command, .done))
        }
    }

    private mutating func take(_ message: SessionMessage, from peer: PeerID) {
        if door[peer] != nil { return takeAtDoor(message, from: peer) }
        guard peers[peer]?.isLinked == true else { return }
        switch message {
        case .waiting: break
        case .hints(let hints): take(hints, from: peer)
        case .hello(let hello): self.hello(hello, from: peer)
        case .have(let have): self.have(have, from: peer)
        case .want(let want): serve(want, to: peer)
        case .answered(let want): effects.append(.settle(want, from: peer))
        case .batch(let bytes): if isHeard(batch: bytes) { effects.append(.store(bytes, from: peer)) }
        case .receipt(let receipt): self.receipt(receipt, from: peer)
        case .verify(let question): answer(question, to: peer)
        case .verified(let answer): effects.append(.verified(peer, answer))
        case .blobState(let state): blobState(state, from: peer)
        case .blobWant(let want): effects.append(.serveBlob(want, to: peer))
        case .blobHashes(let hashes): blobHashes(hashes, from: peer)
        case .blobData(let data): blobData(data, from: peer)
        case .blobMissing(let missing): blobMissing(missing.root, from: peer)
        }
    }

    private mutating func tick() {
        for timer in timers.take(until: now) {
            switch timer {
            case .dial(let peer): dial(peer)
            case .dialPlace(let index): dial(place: index)
            case .dialSighting(let instance): dial(sighting: instance)
            case .grace(let peer): leave(peer)
            case .waiting(let peer): waitedTooLong(peer)
            case .want(let log): want(log)
            case .wantTimeout(let log, let holder): wantTimedOut(log, holder)
            case .proof(let log): passProofAgain(of: log)
            case .flushHave: flushHave()
            case .flushSlowHave: flushSlowHave()
            case .release: release()
            case .receipt: giveReceipt()
            case .passReceipts: passReceipts()
            case .fetchTimeout(let root): fetchTimedOut(root)
            }
        }
        if let next = timers.rearm() { effects.append(.wake(at: next)) }
    }

    mutating func set(_ timer: RoomTimer, after delay: UInt64) {
        if let time = timers.set(timer, at: now.adding(delay)) { effects.append(.wake(at: time)) }
    }

    func name(of peer: PeerID) -> String {
        if peer == me { return displayName }
        let name = peers[peer]?.name ?? ""
        return name.isEmpty ? peer.suffix : name
    }

    mutating func notice(about peer: PeerID, _ text: String) {
        emit(Transcript(direction: .local, peer: peer, name: name(of: peer), content: .notice(text), time: wall))
    }

    /// Shows a line; those that follow one another become one effect.
    mutating func emit(_ line: Transcript) { emit([line]) }

    /// Shows lines, oldest first.
    mutating func emit(_ news: [Transcript]) {
        if news.isEmpty { return }
        guard case .emit(var lines)? = effects.last else { return effects.append(.emit(news)) }
        effects.removeLast()
        lines += news
        effects.append(.emit(lines))
    }

    /// Those whom we have a link with, in the order of their keys.
    var linked: [PeerID] { peers.compactMap { $1.isLinked ? $0 : nil }.sorted() }
}
