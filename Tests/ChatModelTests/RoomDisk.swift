import Identity

@testable import ChatModel

/// What outlives a host's process, in memory: logs by the rules of History, and blobs.
final class RoomDisk {
    let key: SigningKey
    let room: RoomID
    let ownLog: LogID
    /// In the order of their numbers, of which no two have the same.
    private(set) var logs: [LogID: [Row]] = [:]
    private var nonces: [Nonce: (id: EventID, number: UInt64, body: [UInt8])] = [:]
    private(set) var outcomes: [EventID: ImageState] = [:]
    var records: [PeerID: PeerRecord] = [:]
    var blobs: [BlobRoot: Blob] = [:]
    /// What others are known to have of the own log.
    var holdings: [PeerID: [LogID: [ClosedRange<UInt64>]]] = [:]
    var receipts: [PeerID: Receipt] = [:]
    /// Whether the directory of received images takes no file.
    var refusesPlaces = false

    /// A batch, and what of it was new with it.
    struct Row {
        var batch: Batch
        var numbers: ClosedRange<UInt64>
        var range: EventRange { EventRange(numbers: numbers, lastID: batch.id(of: numbers.upperBound) ?? .none) }
    }

    init(_ key: SigningKey, _ room: RoomID) {
        self.key = key
        self.room = room
        ownLog = Samples.log(of: key)
    }

    /// What is there of each log.
    var ranges: [LogID: EventRanges] { logs.mapValues { rows in EventRanges(rows.map(\.range)) } }

    /// The ids of the events of each log, in the order of their numbers.
    var ids: [LogID: [EventID]] {
        logs.mapValues { rows in rows.flatMap { row in row.numbers.compactMap(row.batch.id(of:)) } }
    }

    /// All lines in screen order.
    var lines: [Transcript] {
        var rows: [(HybridTime, PeerID, UInt64, Transcript)] = []
        for (log, stored) in logs {
            for row in stored {
                for number in row.numbers {
                    let index = Int(number - row.batch.first)
                    let (event, id) = (row.batch.events[index], row.batch.ids[index])
                    let line = Transcript(
                        event, id: id, by: log.author, isOwn: log.author == key.peer, image: outcomes[id])
                    if let line { rows.append((event.clock, log.author, number, line)) }
                }
            }
        }
        return rows.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
    }

    var latestClock: HybridTime {
        logs.values.joined().flatMap(\.batch.events).map(\.clock).max() ?? HybridTime(value: 0)
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
        let head = logs[ownLog]?.last?.batch
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
        logs[ownLog, default: []].append(Row(batch: batch, numbers: batch.numbers))
        for index in appended.indices where !appended[index].isRepeated {
            guard let id = batch.id(of: appended[index].number) else { continue }
            appended[index].id = id
            let event = batch.events[Int(appended[index].number - first)]
            nonces[event.nonce] = (id, appended[index].number, event.body)
        }
        return .appended(appended, [batch])
    }

    func store(_ batch: Batch) -> StoredBatch.Result {
        let ranges = ranges[batch.log] ?? EventRanges()
        // In the order of the numbers; each id is known from its own batch, or from the one behind it.
        for row in logs[batch.log] ?? [] {
            let common = min(batch.last, row.numbers.upperBound)
            guard let ours = row.batch.id(of: common), let theirs = batch.id(of: common) else { continue }
            if ours != theirs { return .forked }
        }
        let missing = ranges.missing(in: batch.numbers)
        if missing.isEmpty { return .known }
        if ranges.countAdding(batch.numbers) > EventRanges.maximumCount { return .gap }
        let rows = (logs[batch.log] ?? []) + missing.map { Row(batch: batch, numbers: $0) }
        logs[batch.log] = rows.sorted { $0.numbers.lowerBound < $1.numbers.lowerBound }
        return .stored(missing.map { NewEvents($0) })
    }

    /// Stored batches that cover the front of what is wanted, `count` at most.
    func batches(for want: Want, atMost count: Int) -> [Batch] {
        var batches: [Batch] = []
        for row in logs[want.log] ?? [] where row.batch.last >= want.numbers.lowerBound && batches.count < count {
            let next = batches.last.map { $0.last + 1 } ?? want.numbers.lowerBound
            if row.batch.first > min(next, want.numbers.upperBound) { break }
            if row.batch.last >= next { batches.append(row.batch) }
        }
        return batches
    }

    /// Can't read a batch any more, which a process that runs doesn't know.
    func lose(_ number: UInt64, of log: LogID) { logs[log]?.removeAll { $0.numbers.contains(number) } }

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

    func abandon(_ root: BlobRoot) { if blobs[root]?.progress.isComplete != true { blobs[root] = nil } }

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
