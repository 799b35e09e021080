import ChatModel
import Dispatch
import History
import Identity
import Rx
import Transport

/// Keeps blobs on disk: puts pieces together, serves chunks, places what has arrived.
///
/// `@unchecked`: `partial` is only touched on the store's queue.
final class BlobsLoop: FeedbackLoop, @unchecked Sendable {
    /// A chunk that is arriving.
    private struct Key: Hashable {
        let root: BlobRoot
        let chunk: UInt32
    }

    private let blobs: BlobStore
    private let transport: Transport
    private let downloads: String
    private let intake: Intake
    private let results = PublishSubject<RoomEvent>()
    private let notes = PublishSubject<String>()
    private let serving: Serving<BlobWant>
    private var partial: [Key: [UInt8]] = [:]

    init(_ blobs: BlobStore, downloads: String, transport: Transport, _ intake: Intake) {
        self.blobs = blobs
        self.downloads = downloads
        self.transport = transport
        self.intake = intake
        serving = Serving(transport, over: .blob, on: blobs.queue) { want, peer in
            transport.send([Self.missing(want).frame], to: peer, over: .blob)
        } serve: { want, peer in
            let messages = (try? Self.answer(want, from: blobs)) ?? [Self.missing(want)]
            transport.send(messages.map(\.frame), to: peer, over: .blob)
        }
    }

    var events: Observable<RoomEvent> { results.asObservable() }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {
        switch effect {
        case .beginBlob(let root, let size): run(root) { [self] in try begin(root, size) }
        case .setHashes(let root, let size, let hashes, let peer):
            run(root) { [self] in try setHashes(root, size, hashes, from: peer) }
        case .writePiece(let data, let size, let peer):
            run(data.root) { [self] in
                defer { intake.done(.blobData(data), from: peer) }
                try write(data, size, from: peer)
            }
        case .serveBlob(let want, let peer): serving.add(want, of: peer)
        case .abandonBlob(let root):
            blobs.queue.async { [self] in
                partial = partial.filter { $0.key.root != root }
                blobs.abandon(root)
            }
        case .place(let id, let root, let label): blobs.queue.async { [self] in place(id, root, label) }
        default: break
        }
    }

    private func run(_ root: BlobRoot, _ work: @escaping @Sendable () throws -> Void) {
        blobs.queue.async { [self] in
            do { try work() } catch { results.onNext(.blobFailed(root, reason: reason(error, "it can't be kept"))) }
        }
    }

    private func begin(_ root: BlobRoot, _ size: UInt64) throws {
        partial = partial.filter { $0.key.root != root }
        results.onNext(.blobProgress(root, try blobs.begin(root: root, size: size)))
    }

    private func setHashes(_ root: BlobRoot, _ size: UInt64, _ hashes: [Bytes32], from peer: PeerID) throws {
        guard BlobRoot(size: size, chunkHashes: hashes) == root else {
            return results.onNext(.blobHashesRefused(root, from: peer))
        }
        try blobs.setHashes(root: root, size: size, hashes: hashes)
        try begin(root, size)
    }

    /// Pieces come in order; the first one of a chunk starts it anew.
    private func write(_ data: BlobData, _ size: UInt64, from peer: PeerID) throws {
        let key = Key(root: data.root, chunk: data.chunk)
        let length = BlobRoot.length(ofChunk: Int(data.chunk), size: size)
        if data.offset == 0 { partial[key] = [] }
        guard let before = partial[key]?.count, before == Int(data.offset), before + data.bytes.count <= length else {
            partial[key] = nil
            return results.onNext(.chunkRefused(data.root, chunk: data.chunk, from: peer))
        }
        partial[key]?.append(contentsOf: data.bytes)
        guard before + data.bytes.count == length, let bytes = partial.removeValue(forKey: key) else { return }
        do throws(BlobError) {
            results.onNext(
                .blobProgress(data.root, try blobs.write(chunk: Int(data.chunk), of: data.root, bytes: bytes)))
        } catch .mismatch {
            results.onNext(.chunkRefused(data.root, chunk: data.chunk, from: peer))
        }
    }

    private static func missing(_ want: BlobWant) -> SessionMessage { .blobMissing(BlobMissing(root: want.root)) }

    private static func answer(_ want: BlobWant, from blobs: BlobStore) throws -> [SessionMessage]? {
        switch want.part {
        case .hashes(let page):
            return try blobs.hashes(of: want.root, page: page).map {
                [.blobHashes(BlobHashes(root: want.root, page: page, hashes: $0))]
            }
        case .chunk(let index):
            return try blobs.read(chunk: Int(index), of: want.root).map { pieces(of: $0, want.root, index) }
        }
    }

    private static func pieces(of bytes: [UInt8], _ root: BlobRoot, _ chunk: UInt32) -> [SessionMessage] {
        stride(from: 0, to: bytes.count, by: BlobData.pieceLength).map { offset in
            let piece = Array(bytes[offset..<min(offset + BlobData.pieceLength, bytes.count)])
            return .blobData(BlobData(root: root, chunk: chunk, offset: UInt32(offset), bytes: piece))
        }
    }

    private func place(_ id: EventID, _ root: BlobRoot, _ label: String) {
        do {
            results.onNext(.placed(id, path: try blobs.place(root, named: label, in: downloads)))
        } catch { results.onNext(.placeFailed(id, reason: reason(error, "the downloads directory can't be used"))) }
    }

    /// What the author is told too, so no path of ours: those go to our own log.
    private func reason(_ error: any Error, _ general: String) -> String {
        notes.onNext("\(error)")
        if case BlobError.full = error { return "the disk is full" }
        return general
    }
}
