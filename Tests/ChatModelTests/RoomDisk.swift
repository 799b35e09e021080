import Identity

@testable import ChatModel

/// What outlives a host's process, in memory: logs by the rules of History, and blobs.
final class RoomDisk {
    let key: SigningKey
    let room: RoomID
    let ownLog: LogID
    private(set) var logs: [LogID: [Batch]] = [:]
    private var nonces: [Nonce: (id: EventID, number: UInt64, body: [UInt8])] = [:]
    private(set) var outcomes: [EventID: ImageState] = [:]
    var records: [PeerID: PeerRecord] = [:]
    var blobs: [BlobRoot: Blob] = [:]
    /// What others are known to have of the own log.
    var holdings: [PeerID: [LogID: [ClosedRange<UInt64>]]] = [:]
    var receipts: [PeerID: Receipt] = [:]
    /// Whether the directory of received images takes no file.
    var refusesPlaces = false

    init(_ key: SigningKey, _ room: RoomID) {
        self.key = key
        self.room = room
        ownLog = Samples.log(of: key)
    }

    var heads: [LogID: EventRange] {
        logs.compactMapValues { $0.last.map { EventRange(numbers: 1...$0.last, lastID: $0.lastID) } }
    }

    /// The ids of each log from its first event on.
    var ids: [LogID: [EventID]] { logs.mapValues { batches in batches.reduce(into: []) { join(&$0, $1) } } }

    private func join(_ ids: inout [EventID], _ batch: Batch) {
        ids += batch.ids.dropFirst(ids.count + 1 - Int(batch.first))
    }

    /// All lines in screen order.
    var lines: [Transcript] {
        var rows: [(HybridTime, PeerID, UInt64, Transcript)] = []
        for (log, batches) in logs {
            var last: UInt64 = 0
            for batch in batches {
                for (index, event) in batch.events.enumerated() where batch.first + UInt64(index) > last {
                    last = batch.first + UInt64(index)
                    let id = batch.ids[index]
                    let line = Transcript(
                        event, id: id, by: log.author, isOwn: log.author == key.peer, image: outcomes[id])
                    if let line { rows.append((event.clock, log.author, last, line)) }
                }
            }
        }
        return rows.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
    }

    var latestClock: HybridTime {
        logs.values.joined().flatMap(\.events).map(\.clock).max() ?? HybridTime(value: 0)
    }

    var unfinished: [Transcript] {
        lines.filter { line in
            guard case .image = line.content, line.direction == .receive, let id = line.id else { return false }
            return outcomes[id] == nil
        }
    }

    func append(_ drafts: [(BatchEvent, CommandID)]) -> RoomEvent {
        var appended: [Appended] = []
        var new: [BatchEvent] = []
        let head = logs[ownLog]?.last
        let first = (head?.last ?? 0) + 1
        for (event, command) in drafts {
            if let known = nonces[event.nonce] {
                guard known.body == event.body else { return .appendFailed([command], .nonceTaken) }
                appended.append(Appended(command: command, id: known.id, number: known.number, isRepeated: true))
            } else {
                let number = first + UInt64(new.count)
                appended.append(Appended(command: command, id: .none, number: number, isRepeated: false))
                new.append(event)
            }
        }
        if new.isEmpty { return .appended(appended, []) }
        let batch = Batch(
            sealing: new, in: ownLog, of: room, first: first, previous: head?.lastID ?? .none, with: key)
        logs[ownLog, default: []].append(batch)
        for index in appended.indices where !appended[index].isRepeated {
            guard let id = batch.id(of: appended[index].number) else { continue }
            appended[index].id = id
            let event = batch.events[Int(appended[index].number - first)]
            nonces[event.nonce] = (id, appended[index].number, event.body)
        }
        return .appended(appended, [batch])
    }

    func store(_ batch: Batch) -> StoredBatch.Result {
        let last = logs[batch.log]?.last?.last ?? 0
        if batch.first > last + 1 { return .gap }
        let known = ids[batch.log] ?? []
        let ours = batch.first == 1 ? EventID.none : known[Int(batch.first) - 2]
        let overlap = zip(known.dropFirst(Int(batch.first) - 1), batch.ids)
        if ours != batch.previous || overlap.contains(where: { $0 != $1 }) { return .forked }
        if batch.last <= last { return .known }
        logs[batch.log, default: []].append(batch)
        return .stored(first: last + 1)
    }

    /// Stored batches that cover the front of what is wanted, `count` at most.
    func batches(for want: Want, atMost count: Int) -> [Batch] {
        let rows = logs[want.log] ?? []
        let covering = rows.filter { $0.last >= want.numbers.lowerBound && $0.first <= want.numbers.upperBound }
        return Array(covering.prefix(count))
    }

    func note(_ id: EventID, _ outcome: ImageState) { outcomes[id] = outcome }
}

// Blobs
extension RoomDisk {
    struct Blob {
        var size: UInt64
        var hashes: [Bytes32]?
        var chunks: [Int: [UInt8]] = [:]
        /// The pieces of chunks under way.
        var parts: [UInt32: [UInt8]] = [:]

        init(size: UInt64) { self.size = size }

        init(_ bytes: [UInt8]) {
            size = UInt64(bytes.count)
            for index in 0..<BlobRoot.chunkCount(size: size) {
                let start = index * BlobRoot.chunkLength
                chunks[index] = Array(bytes[start..<min(start + BlobRoot.chunkLength, bytes.count)])
            }
            hashes = (0..<chunks.count).map { SHA256.digest(of: chunks[$0] ?? []) }
        }

        var bytes: [UInt8] { (0..<BlobRoot.chunkCount(size: size)).flatMap { chunks[$0] ?? [] } }
        var root: BlobRoot { BlobRoot(size: size, chunkHashes: hashes ?? []) }

        var progress: BlobProgress {
            let missing = (0..<BlobRoot.chunkCount(size: size)).filter { chunks[$0] == nil }
            return BlobProgress(
                hasHashes: hashes != nil, missing: missing,
                verified: chunks.values.reduce(0) { $0 + UInt64($1.count) },
                isComplete: missing.isEmpty && hashes != nil)
        }
    }

    func begin(_ root: BlobRoot, size: UInt64) -> RoomEvent {
        var blob = blobs[root] ?? Blob(size: size)
        // Only with the hashes is a size more than a claim.
        if blob.hashes == nil { blob.size = size }
        if size == 0, root == BlobRoot(size: 0, chunkHashes: []) { blob.hashes = [] }
        guard blob.size == size, size > 0 || blob.hashes != nil else {
            return .blobFailed(root, reason: "the size isn't that of the root")
        }
        blob.parts = [:]
        blobs[root] = blob
        return .blobProgress(root, blob.progress)
    }

    func setHashes(_ root: BlobRoot, size: UInt64, _ hashes: [Bytes32], from peer: PeerID) -> RoomEvent {
        guard BlobRoot(size: size, chunkHashes: hashes) == root else { return .blobHashesRefused(root, from: peer) }
        blobs[root, default: Blob(size: size)].hashes = hashes
        return .blobProgress(root, blobs[root, default: Blob(size: size)].progress)
    }

    func write(_ data: BlobData, from peer: PeerID) -> RoomEvent? {
        guard var blob = blobs[data.root], let hashes = blob.hashes, Int(data.chunk) < hashes.count else { return nil }
        var part = data.offset == 0 ? [] : blob.parts[data.chunk] ?? []
        guard part.count == Int(data.offset) else { return nil }
        part += data.bytes
        let isWhole = part.count == BlobRoot.length(ofChunk: Int(data.chunk), size: blob.size)
        blob.parts[data.chunk] = isWhole ? nil : part
        defer { blobs[data.root] = blob }
        guard isWhole else { return nil }
        guard SHA256.digest(of: part) == hashes[Int(data.chunk)] else {
            return .chunkRefused(data.root, chunk: data.chunk, from: peer)
        }
        blob.chunks[Int(data.chunk)] = part
        return .blobProgress(data.root, blob.progress)
    }

    func answer(_ want: BlobWant) -> [SessionMessage] {
        guard let blob = blobs[want.root], let hashes = blob.hashes else {
            return [.blobMissing(BlobMissing(root: want.root))]
        }
        switch want.part {
        case .hashes(let page):
            let rest = hashes.dropFirst(Int(page) * BlobHashes.pageLength).prefix(BlobHashes.pageLength)
            return [.blobHashes(BlobHashes(root: want.root, page: page, hashes: Array(rest)))]
        case .chunk(let index):
            guard let chunk = blob.chunks[Int(index)] else { return [.blobMissing(BlobMissing(root: want.root))] }
            return stride(from: 0, to: chunk.count, by: BlobData.pieceLength).map { offset in
                let piece = Array(chunk[offset..<min(offset + BlobData.pieceLength, chunk.count)])
                return .blobData(BlobData(root: want.root, chunk: index, offset: UInt32(offset), bytes: piece))
            }
        }
    }
}
