import Addressing
import Identity

@testable import ChatModel

/// One host of a ``RoomNetwork``: a room while its process runs, its disk, and what its user sees.
final class RoomHost {
    let index: Int
    let name: String
    let key: SigningKey
    let disk: RoomDisk
    var limits: RoomLimits
    /// `HOST:PORT` given by the user: a host's name.
    var places: [String] = []
    var admission = Admission.open
    /// Whether it tells where it is.
    var givesHints = false
    /// How far ahead of the others' clocks it says that its own is, in milliseconds.
    var clockOffset: Int64 = 0
    /// Who gets no link.
    private(set) var shutOut: Set<PeerID> = []
    /// From where peers are let in, as those who were there and those who say so.
    private(set) var expected: [IPAddress] = []
    private(set) var hinted: [IPAddress] = []
    var versions = Hello.version...Hello.version
    /// Changes or swallows what it sends, to play a liar.
    var tamper: (PeerID, SessionMessage) -> SessionMessage? = { $1 }

    private(set) var room: RoomState
    private(set) var isRunning = false
    /// Counts the processes.
    private(set) var life = 0
    var kept: [Int: RoomNetwork.Link] = [:]
    var blobLinks: [Int: RoomNetwork.Link] = [:]

    /// The transcript as its user has it before him: the log at the start, then each line as it comes.
    private(set) var screen: [Transcript] = []
    private(set) var updates: [Transcript] = []
    private(set) var notices: [(time: UInt64, text: String)] = []
    private(set) var changes: [(id: EventID, change: TransferChange)] = []
    private(set) var statuses: [PeerID: PeerStatus] = [:]
    private(set) var replies: [CommandID: CommandReply] = [:]
    /// What its user can learn of who has stored what.
    private(set) var book = DeliveryBook()
    private(set) var asked: (question: UInt64, peers: [PeerID])?
    private(set) var answers: [(peer: PeerID, answer: Verified)] = []
    private(set) var placed: [EventID: String] = [:]
    private(set) var dialTimes: [UInt64] = []
    private(set) var messagesSent: [UInt8: Int] = [:]
    private(set) var effectCount = 0
    /// What it sent, with whom to.
    private(set) var bytesSent: [PeerID: Int] = [:]

    unowned let network: RoomNetwork
    private var wakeTime: UInt64?
    private var drafts: [(BatchEvent, CommandID)] = []
    private var diskIdleAt: UInt64 = 0
    private var lastCommand: UInt64 = 0
    private var announced: Set<Int> = []

    init(_ index: Int, _ name: String, _ key: SigningKey, _ limits: RoomLimits, _ network: RoomNetwork) {
        self.index = index
        self.name = name
        self.key = key
        self.limits = limits
        self.network = network
        disk = RoomDisk(key, network.id)
        room = RoomState(.init(me: key.peer, displayName: name, ownLog: disk.ownLog))
    }

    var endpoint: Endpoint { Endpoint(address: .v4(0x0a00_0001 + UInt32(index)), port: 7_311) }

    /// Where it says that it is.
    var hint: PeerHint? {
        PeerHint(signing: [endpoint], counter: 1_700_000_000_000 + network.now, in: network.id, by: key)
    }

    var greeting: Hello {
        Hello(
            versions: versions, features: Hello.takesHints | (admission == .open ? 0 : Hello.saysWaiting),
            displayName: name, instance: "",
            wallTime: UInt64(1_700_000_000_000 + Int64(network.now) + clockOffset),
            autoFetchLimit: limits.autoFetch)
    }
}

// Its life
extension RoomHost {
    func start() {
        guard !isRunning else { return }
        life += 1
        isRunning = true
        shutOut = []
        (expected, hinted) = ([], [])
        var start = RoomState.Start(me: key.peer, displayName: name, ownLog: disk.ownLog)
        start.limits = limits
        start.ranges = disk.ranges
        start.clock = disk.latestClock
        start.places = places
        start.records = disk.records
        start.admission = admission
        start.room = "lab"
        start.unfinished = disk.unfinished
        start.recent = disk.lines.suffix(200)
        start.holdings = disk.holdings
        start.receipts = disk.receipts.values.sorted { $0.holder < $1.holder }
        start.seed = network.chance(0...UInt64.max)
        room = RoomState(start)
        screen = disk.lines
        take(.tick)
        if givesHints { take(.ownHint(hint)) }
        for other in network.hosts where other !== self && network.areAnnounced(self, other) {
            if other.isRunning { discover(other) }
            other.discover(self)
        }
    }

    private func discover(_ other: RoomHost) {
        guard isRunning, !announced.contains(other.index) else { return }
        announced.insert(other.index)
        let event = RoomEvent.found(other.key.peer, instance: other.name, endpoints: [other.endpoint])
        later(network.chance(1...50)) { $0.take(event) }
    }

    /// Ends without a word; what isn't on the disk is lost, its announcement stays.
    func crash() { stop(.closed) }

    /// Says goodbye and withdraws its announcement.
    func leave() {
        stop(.left)
        for other in network.hosts where other.announced.remove(index) != nil {
            other.later(network.chance(1...50)) { [key] in $0.take(.lost(key.peer)) }
        }
    }

    private func stop(_ ending: LinkEnding) {
        guard isRunning else { return }
        network.hangUp(self, ending)
        isRunning = false
        kept = [:]
        blobLinks = [:]
        wakeTime = nil
        drafts = []
        announced = []
    }

    /// Does something after a while, unless this process has ended by then.
    private func later(_ delay: UInt64, _ action: @escaping (RoomHost) -> Void) {
        let life = life
        network.schedule(after: delay) { [self] in if self.life == life, isRunning { action(self) } }
    }

    /// What the disk does, one thing after another.
    private func onDisk(_ action: @escaping (RoomHost) -> Void) {
        diskIdleAt = max(diskIdleAt, network.now + network.chance(0...3))
        later(diskIdleAt - network.now, action)
    }

    func take(_ event: RoomEvent) {
        guard isRunning else { return }
        perform(
            RoomState.reduce(into: &room, RoomInput(event, now: network.now, wall: 1_700_000_000_000 + network.now)))
    }
}

// Its user
extension RoomHost {
    @discardableResult func say(_ text: String, nonce: Nonce? = nil) -> CommandID {
        command { .say([Saying(.text(text), nonce: nonce ?? $1, command: $0)]) }
    }

    /// Sends an image of these bytes.
    @discardableResult func share(_ name: String, _ bytes: [UInt8], claiming size: UInt64? = nil) -> CommandID {
        let blob = RoomDisk.Blob(bytes)
        disk.blobs[blob.root] = blob
        let image = Samples.image(name, size: size ?? blob.size, root: blob.root)
        return command { .say([Saying(.image(image), nonce: $1, command: $0)]) }
    }

    /// Decides about another host's peer.
    @discardableResult func decide(_ decision: PeerDecision, _ other: RoomHost) -> CommandID {
        command { command, _ in .decide(other.key.peer, decision, command) }
    }

    private func command(_ event: (CommandID, Nonce) -> RoomEvent) -> CommandID {
        lastCommand += 1
        let command = CommandID(value: lastCommand)
        take(event(command, Nonce(UInt128(network.chance(0...UInt64.max)))))
        return command
    }

    /// The texts before its user.
    var texts: [String] {
        screen.compactMap { if case .text(let text) = $0.content { text } else { nil } }
    }

    var said: [String] { notices.map(\.text) }

    func progress(of id: EventID) -> [TransferChange] { changes.filter { $0.id == id }.map(\.change) }

    /// The images before its user as they are now, by name.
    var images: [String: ImageState] {
        var images: [String: ImageState] = [:]
        for line in screen + updates {
            if case .image(let image, let state) = line.content { images[image.name] = state }
        }
        return images
    }

    func id(ofImage name: String) -> EventID? {
        screen.last { if case .image(let image, _) = $0.content { image.name == name } else { false } }?.id
    }
}

// What its room wants done
extension RoomHost {
    private func perform(_ effects: [RoomEffect]) {
        effectCount += effects.count
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: RoomEffect) {
        switch effect {
        case .dial(let number, let target, let isReplacing): dial(number, target, isReplacing)
        case .send(let peer, let messages): for message in messages { send(message, to: peer) }
        case .sendBlob(let peer, let message): sendBlob(message, to: peer)
        case .disconnect(let peer, let reason):
            if let other = network.host(of: peer) { network.disconnect(self, from: other, reason) }

        case .append(let more):
            drafts += more.map { ($0.event, $0.command) }
            onDisk { $0.commit() }
        case .store(let bytes, let peer): onDisk { $0.store(bytes, from: peer) }
        case .serve(let want, let peer): onDisk { $0.serve(want, to: peer) }
        case .settle(let want, let peer): onDisk { $0.take(.answered(by: peer, want)) }
        case .remember(let peer, let record): disk.records[peer] = record.isVoid ? nil : record
        case .judge(let peer, let record, let command):
            disk.records[peer] = record
            onDisk { $0.take(.judged(command)) }
        case .expect(let addresses): expected += addresses
        case .admit(let addresses): hinted += addresses
        case .shutOut(let peers):
            shutOut = peers
            for peer in peers {
                if let other = network.host(of: peer) { network.disconnect(self, from: other, "shut out") }
            }
        case .note(let id, let state): disk.note(id, state)
        case .held(let peer, let log, let numbers):
            book.hold(numbers, of: log, by: peer)
            if log.author == key.peer { disk.holdings[peer, default: [:]][log] = numbers.isEmpty ? nil : numbers }
        case .enroll(let log, let first, let members): book.enroll(members, in: log, from: first)
        case .signReceipt(let content):
            onDisk { $0.take(.receiptVerified(Receipt(signing: content, in: $0.network.id, with: $0.key))) }
        case .verifyReceipt(let receipt, let peer):
            onDisk { host in
                let holds = receipt.holds(in: host.network.id)
                host.take(holds ? .receiptVerified(receipt) : .receiptRefused(receipt, from: peer))
            }
        case .asked(let question, let peers): asked = (question, peers)
        case .verified(let peer, let answer): answers.append((peer, answer))
        case .answer(let question, let blocked, let peer):
            onDisk { host in
                let entries = host.disk.ranges.map { log, ranges in
                    let isLeftOut = blocked.contains(log.author)
                    return Verified.Entry(
                        Have.Entry(log: log, ranges: isLeftOut ? [] : ranges.all), isLeftOut: isLeftOut)
                }
                for page in Verified.pages(entries, answering: question) { host.send(.verified(page), to: peer) }
                host.take(.verifyAnswered(peer))
            }
        case .keepReceipt(let receipt): disk.receipts[receipt.holder] = receipt

        case .beginBlob(let root, let size): onDisk { $0.take($0.disk.begin(root, size: size)) }
        case .setHashes(let root, let size, let hashes, let peer):
            onDisk { $0.take($0.disk.setHashes(root, size: size, hashes, from: peer)) }
        case .writePiece(let data, _, let peer):
            onDisk { if let event = $0.disk.write(data, from: peer) { $0.take(event) } }
        case .serveBlob(let want, let peer):
            onDisk { for message in $0.disk.answer(want) { $0.sendBlob(message, to: peer) } }
        case .abandonBlob(let root): onDisk { $0.disk.abandon(root) }
        case .place(let id, _, let label): onDisk { $0.place(id, label) }

        case .emit(let lines): for line in lines { show(line) }
        case .update(let line): updates.append(line)
        case .transfer(let id, let change): changes.append((id, change))
        case .reply(let command, let reply): self.reply(command, reply)
        case .replyStored(let appended, let receivers):
            for entry in appended {
                reply(entry.command, .stored(entry.id, number: entry.number, receivers: receivers))
            }
        case .verify(let hints, let sender):
            let genuine = hints.compactMap { hint in hint.author(in: network.id).map { ($0, hint) } }
            later(1) { $0.take(.hinted(by: sender, Dictionary(genuine) { $1 })) }
        case .forget(let peer): statuses[peer] = nil
        case .log: break
        case .peer(let status): statuses[status.peer] = status
        case .wake(let time): wake(at: time)
        }
    }

    private func reply(_ command: CommandID, _ reply: CommandReply) {
        precondition(replies.updateValue(reply, forKey: command) == nil, "a command is replied to once")
    }

    private func show(_ line: Transcript) {
        network.note(network.now, UInt64(index), line.id.map { UInt64($0.digest.bytes[0]) } ?? 256)
        if case .notice(let text) = line.content { return notices.append((network.now, text)) }
        screen.append(line)
    }

    private func dial(_ number: DialNumber, _ target: DialTarget, _ isReplacing: Bool) {
        dialTimes.append(network.now)
        let other =
            switch target {
            case .peer(let peer, _): network.host(of: peer)
            case .place(let name): network.hosts.first { $0.name == name }
            case .endpoints(let endpoints): network.hosts.first { endpoints.contains($0.endpoint) }
            }
        guard let other else { return later(100) { $0.take(.dialled(number, .failed("no such host"))) } }
        let life = life
        network.dial(other, from: self, replacing: isReplacing ? kept[other.index] : nil) { [self] outcome in
            if self.life == life { take(.dialled(number, outcome)) }
        }
    }

    private func send(_ message: SessionMessage, to peer: PeerID) {
        guard let other = network.host(of: peer), let link = kept[other.index], let message = tamper(peer, message)
        else {
            return
        }
        count(message, to: peer)
        network.send(message, from: self, on: link)
    }

    private func sendBlob(_ message: SessionMessage, to peer: PeerID) {
        guard let other = network.host(of: peer), let message = tamper(peer, message),
            let link = network.blobLink(from: self, to: other)
        else { return }
        count(message, to: peer)
        network.send(message, from: self, on: link)
    }

    private func count(_ message: SessionMessage, to peer: PeerID) {
        let (kind, body) = message.encoded
        messagesSent[kind, default: 0] += 1
        bytesSent[peer, default: 0] += body.count
    }

    private func commit() {
        if drafts.isEmpty { return }
        defer { drafts = [] }
        take(disk.append(drafts))
    }

    private func store(_ bytes: [UInt8], from peer: PeerID) {
        do throws(BatchError) {
            let batch = try network.verify(bytes, reader: key.peer)
            take(.stored(from: peer, [StoredBatch(batch: batch, result: disk.store(batch))]))
        } catch { take(.batchRefused(from: peer, error)) }
    }

    private func serve(_ want: Want, to peer: PeerID) {
        let count = network.chance(0...2) == 0 ? Int(network.chance(1...8)) : 1_000
        for batch in disk.batches(for: want, atMost: count) { send(.batch(batch.bytes), to: peer) }
        send(.answered(want), to: peer)
    }

    private func place(_ id: EventID, _ label: String) {
        if disk.refusesPlaces { return take(.placeFailed(id, reason: "can't be stored")) }
        placed[id] = label
        take(.placed(id, path: "/downloads/\(label)"))
    }

    private func wake(at time: UInt64) {
        wakeTime = time
        later(time > network.now ? time - network.now : 0) { host in
            guard host.wakeTime == time else { return }
            host.wakeTime = nil
            host.take(.tick)
        }
    }
}
