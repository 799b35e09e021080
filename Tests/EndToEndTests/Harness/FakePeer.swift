import ChatModel
import Foundation
import HostilePeer
import Identity
import Locking
import SystemCalls
import Testing

/// A peer that says what a test wants, by docs/protocol.md. It dials.
final class FakePeer: Sendable {
    private struct State {
        var messages: [SessionMessage] = []
        var goodbyes: [UInt8] = []
        var isOver = false
        var last: UInt64 = 0
        var lastID = EventID.none
        var dials: UInt64 = 0
        var blobLinks: [WirePeer] = []
        var held: [LogID: UInt64] = [:]
        /// What it answers to the daemon waits here while a test is in the middle of a frame.
        var heldBack: [UInt8]?
    }

    let key: SigningKey
    let name: String
    let room: RoomID
    private let place: Place
    private let instance = randomBytes(16)
    private let incarnation = Incarnation(randomBytes(16).reduce(0) { $0 << 8 | UInt128($1) })
    private let link: WirePeer
    private let state = Locked(State())
    private let writing = Locked(())
    private let serve: @Sendable (BlobWant) -> [SessionMessage]

    /// Connects and proves who it is; ``introduce(versions:)`` goes on.
    ///
    /// - Parameter serve: What it answers on a blob link.
    init(
        _ name: String = "mallory", dialling place: Place, room: String = "lab", as key: SigningKey = SigningKey(),
        serve: @escaping @Sendable (BlobWant) -> [SessionMessage] = { [.blobMissing(BlobMissing(root: $0.root))] }
    ) throws {
        self.key = key
        self.name = name
        self.room = RoomID(openRoom: room)
        self.place = place
        self.serve = serve
        link = try WirePeer.open(place, as: key, in: RoomKey(openRoom: self.room))
    }

    /// One that is in the room, and has sent that it has nothing yet.
    static func join(
        _ name: String = "mallory", dialling place: Place, as key: SigningKey = SigningKey(),
        serve: @escaping @Sendable (BlobWant) -> [SessionMessage] = { [.blobMissing(BlobMissing(root: $0.root))] }
    ) throws -> FakePeer {
        let peer = try FakePeer(name, dialling: place, as: key, serve: serve)
        try peer.introduce()
        try peer.say(.have(Have(entries: [])))
        return peer
    }

    deinit {
        link.end()
        for link in state.withLock({ $0.blobLinks }) { link.end() }
    }

    /// Sends Link and Hello, takes those of the daemon, and from then on all that it says.
    func introduce(versions: ClosedRange<UInt16> = 1...1) throws {
        try introduce(link, purpose: 1)
        try say(
            .hello(
                Hello(
                    versions: versions, displayName: name, instance: "", wallTime: Self.now, autoFetchLimit: 32 << 20)))
        Thread.detachNewThread { [weak self, link] in
            while let frame = try? Self.readFrame(link), let self { take(frame) }
            self?.state.withLock { $0.isOver = true }
        }
    }

    private func introduce(_ link: WirePeer, purpose: UInt8) throws {
        let number = state.withLock { state in
            state.dials += 1
            return state.dials
        }
        var body = [purpose] + instance
        body.append(bigEndian: number)
        try link.write(Self.frame(0, body + [0]))
    }

    private func take(_ frame: (kind: UInt8, body: [UInt8])) {
        switch frame.kind {
        case 1: answer(Self.frame(2, frame.body))
        case 3: state.withLock { $0.goodbyes += frame.body }
        case 4: try? openBlobLink()
        default:
            guard let message = try? SessionMessage(kind: frame.kind, body: frame.body) else { return }
            state.withLock { $0.messages.append(message) }
            follow(message)
        }
    }

    /// Asks for what the daemon has, and confirms what came, as any peer does.
    private func follow(_ message: SessionMessage) {
        switch message {
        case .have(let have):
            for entry in have.entries {
                let held = state.withLock { $0.held[entry.log] ?? 0 }
                guard let last = entry.ranges.first?.numbers.upperBound, last > held else { continue }
                answer(.want(Want(log: entry.log, numbers: held + 1...last)))
            }
        case .batch(let bytes):
            guard let batch = try? Batch(verifying: bytes, in: room, reader: key.peer) else { return }
            let isNext = state.withLock { state in
                guard batch.first == (state.held[batch.log] ?? 0) + 1 else { return false }
                state.held[batch.log] = batch.last
                return true
            }
            guard isNext else { return }
            let range = EventRange(numbers: 1...batch.last, lastID: batch.lastID)
            answer(.have(Have(entries: [Have.Entry(log: batch.log, ranges: [range])])))
        default: break
        }
    }

    private func answer(_ message: SessionMessage) { answer(Self.frame(message.encoded.kind, message.encoded.body)) }

    private func answer(_ frame: [UInt8]) {
        let isHeldBack = state.withLock { state in
            state.heldBack?.append(contentsOf: frame)
            return state.heldBack != nil
        }
        if !isHeldBack { try? write(frame) }
    }

    /// From now on, until ``proceed()``, only the test writes.
    func holdBack() { state.withLock { $0.heldBack = [] } }

    func proceed() throws {
        let held = state.withLock { state in
            defer { state.heldBack = nil }
            return state.heldBack ?? []
        }
        try write(held)
    }

    private func openBlobLink() throws {
        let link = try WirePeer.open(place, as: key, in: RoomKey(openRoom: room))
        try introduce(link, purpose: 2)
        state.withLock { $0.blobLinks.append(link) }
        Thread.detachNewThread { [weak self] in
            while let frame = try? Self.readFrame(link), let self {
                guard let message = try? SessionMessage(kind: frame.kind, body: frame.body) else { continue }
                state.withLock { $0.messages.append(message) }
                guard case .blobWant(let want) = message else { continue }
                for answer in serve(want) { try? link.write(Self.frame(answer.encoded.kind, answer.encoded.body)) }
            }
        }
    }

    // MARK: What it says

    static func frame(_ kind: UInt8, _ body: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt32(body.count))
        return bytes + [kind, flags] + body
    }

    func write(_ bytes: [UInt8]) throws { try writing.withLock { _ in try link.write(bytes) } }
    func write(_ kind: UInt8, _ body: [UInt8]) throws { try write(Self.frame(kind, body)) }
    func say(_ message: SessionMessage) throws { try write(message.encoded.kind, message.encoded.body) }

    /// Appends to its log, and sends that as one batch.
    @discardableResult
    func say(_ bodies: [EventBody], author: String? = nil) throws -> [EventID] {
        try say(bodies.map { (kind: $0.kind, body: $0.encoded(authorName: author ?? name)) })
    }

    /// The same with bodies of any bytes.
    @discardableResult
    func say(_ bodies: [(kind: EventKind, body: [UInt8])]) throws -> [EventID] {
        let batch = batch(bodies)
        try say(.batch(batch.bytes))
        return batch.ids
    }

    /// Appends to its log what nobody is told.
    func batch(_ bodies: [(kind: EventKind, body: [UInt8])]) -> Batch {
        state.withLock { state in
            let events = bodies.map { kind, body in
                BatchEvent(
                    kind: kind, nonce: Nonce(randomBytes(16).reduce(0) { $0 << 8 | UInt128($1) }),
                    clock: HybridTime(milliseconds: Self.now), wallTime: Self.now, body: body)
            }
            let log = LogID(author: key.peer, incarnation: incarnation)
            let batch = Batch(
                sealing: events, in: log, of: room, first: state.last + 1, previous: state.lastID, with: key)
            (state.last, state.lastID) = (batch.last, batch.lastID)
            return batch
        }
    }

    /// Announces an image.
    @discardableResult
    func announce(_ name: String, _ size: UInt64, _ root: BlobRoot) throws -> EventID {
        let info = ImageInfo(name: name, mediaType: "image/png", size: size, width: 7, height: 5, root: root)
        return try #require(try say([.image(info)]).first)
    }

    /// Ends the connections, as a process that dies does.
    func end() {
        link.end()
        for link in state.withLock({ $0.blobLinks }) { link.end() }
    }

    // MARK: What it heard

    var messages: [SessionMessage] { state.withLock { $0.messages } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Texts that came in batches with a seal that holds.
    var texts: [String] {
        messages.compactMap { message -> Batch? in
            guard case .batch(let bytes) = message else { return nil }
            return try? Batch(verifying: bytes, in: room, reader: key.peer)
        }
        .flatMap(\.events).compactMap { event in
            guard case .text(let text)? = try? EventBody.decode(event.kind, event.body)?.body else { return nil }
            return text
        }
    }

    /// How far the daemon said that it is with a blob.
    func progress(of root: BlobRoot) -> [BlobState.Progress] {
        messages.compactMap { if case .blobState(let state) = $0, state.root == root { state.progress } else { nil } }
    }

    private static func readFrame(_ link: WirePeer) throws -> (kind: UInt8, body: [UInt8]) {
        let header = try link.read(6)
        return (header[4], try link.read(header.prefix(4).reduce(0) { $0 << 8 | Int($1) }))
    }

    private static var now: UInt64 { UInt64(Date().timeIntervalSince1970 * 1000) }
}

/// The bytes of images as a fake peer has them.
struct FakeBlob: Sendable {
    let bytes: [UInt8]
    let root: BlobRoot
    private let hashes: [Bytes32]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        hashes = stride(from: 0, to: bytes.count, by: BlobRoot.chunkLength).map {
            SHA256.digest(of: Array(bytes[$0..<min($0 + BlobRoot.chunkLength, bytes.count)]))
        }
        root = BlobRoot(size: UInt64(bytes.count), chunkHashes: hashes)
    }

    var size: UInt64 { UInt64(bytes.count) }

    /// What an honest peer answers.
    func answer(_ want: BlobWant) -> [SessionMessage] {
        guard want.root == root else { return [.blobMissing(BlobMissing(root: want.root))] }
        switch want.part {
        case .hashes(let page): return [.blobHashes(BlobHashes(root: root, page: page, hashes: hashes))]
        case .chunk(let index):
            let start = Int(index) * BlobRoot.chunkLength
            let chunk = Array(bytes[start..<min(start + BlobRoot.chunkLength, bytes.count)])
            return stride(from: 0, to: chunk.count, by: BlobData.pieceLength).map { offset in
                .blobData(
                    BlobData(
                        root: root, chunk: index, offset: UInt32(offset),
                        bytes: Array(chunk[offset..<min(offset + BlobData.pieceLength, chunk.count)])))
            }
        }
    }
}
