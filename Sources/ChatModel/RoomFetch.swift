import Identity

/// A blob on its way here, from one holder at a time.
struct Fetch {
    let root: BlobRoot
    var size: UInt64
    /// The images that are waiting for it.
    var events: [EventID]
    /// Images of the same root that were announced with other sizes; the hashes tell whose is right.
    var rivals: [EventID] = []
    /// Sizes that the present source's hashes don't belong to.
    var wrongSizes: Set<UInt64> = []
    var hasHashes = false
    var hashes: [Bytes32] = []
    var missing: [Int] = []
    var inFlight: Set<Int> = []
    var verified: UInt64 = 0
    /// Whether the disk has told what is there already.
    var isOpen = false
    var isComplete = false
    var source: PeerID?
    /// Who said that it lacks the blob, or didn't deliver.
    var lacking: Set<PeerID> = []
    /// How often in a row one of them was turned away from.
    var failures: UInt64 = 0
}

// An image arrives
extension RoomState {
    mutating func imageArrived(_ line: Transcript, _ image: ImageInfo) {
        guard let id = line.id else { return }
        emit(line)
        if Names.fileName(forImageNamed: image.name) == nil {
            refuse(line, image, "its name is not a file's name")
        } else if image.size > limits.autoFetch {
            let size = Self.mebibytes(image.size, roundedUp: true)
            refuse(line, image, "\(size) is over its limit of \(Self.mebibytes(limits.autoFetch, roundedUp: false))")
        } else {
            fetch(line, image, id)
        }
    }

    /// Goes on with an image that an earlier run of this host began.
    mutating func resume(_ line: Transcript) {
        guard let id = line.id, case .image(let image, _) = line.content else { return }
        fetch(line, image, id)
    }

    private mutating func fetch(_ line: Transcript, _ image: ImageInfo, _ id: EventID) {
        arrivals[id] = line
        let change = TransferChange.started(
            direction: .receive, name: image.name, size: image.size, peers: [line.peer: line.name])
        effects.append(.transfer(id, change))
        // Its sender may have cancelled it before it came here.
        tell(line.peer, BlobState(root: image.root, progress: .verified(fetches[image.root]?.verified ?? 0)))
        guard let fetch = fetches[image.root] else {
            fetches[image.root] = Fetch(root: image.root, size: image.size, events: [id])
            effects.append(.beginBlob(image.root, size: image.size))
            return
        }
        if fetch.size == image.size {
            fetches[image.root]?.events.append(id)
            if fetch.isComplete { place(id) }
        } else {
            fetches[image.root]?.rivals.append(id)
            if fetch.hasHashes { failRivals(of: image.root) }
        }
    }

    private mutating func refuse(_ line: Transcript, _ image: ImageInfo, _ reason: String) {
        guard let id = line.id else { return }
        tellEnd(line.peer, BlobState(root: image.root, progress: .refused(reason)))
        settle(line, image, id, .refused(reason))
    }

    private mutating func tell(_ author: PeerID, _ state: BlobState) {
        if peers[author]?.isLinked == true { effects.append(.send(author, [.blobState(state)])) }
    }

    /// Tells an author that an arrival is over, now and when it is linked anew.
    mutating func tellEnd(_ author: PeerID, _ state: BlobState) {
        remember(author, state)
        tell(author, state)
    }

    private mutating func remember(_ author: PeerID, _ state: BlobState) {
        ended.removeAll { $0.author == author && $0.state.root == state.root }
        ended.append((author, state))
        if ended.count > limits.endsKept { ended.removeFirst() }
    }

    /// Takes up how an image ended in an earlier run of this host.
    mutating func remember(_ line: Transcript) {
        guard case .image(let image, let state) = line.content else { return }
        if line.direction == .send {
            if state == .cancelled, let id = line.id { keepCancelled(line, image, id) }
            return
        }
        switch state {
        case .received: remember(line.peer, BlobState(root: image.root, progress: .verified(image.size)))
        case .refused(let reason), .failed(let reason):
            remember(line.peer, BlobState(root: image.root, progress: .refused(reason)))
        case .cancelled: remember(line.peer, BlobState(root: image.root, progress: .refused(Self.cancelReason)))
        case .sending, .sent, .receiving, .waiting: break
        }
    }

    static let cancelReason = "cancelled by the receiver"

    /// Tells an author all that a link which is gone may have swallowed.
    mutating func tellAgain(_ author: PeerID) {
        for (whose, state) in ended where whose == author { tell(author, state) }
        for root in fetches.keys.sorted() {
            guard let fetch = fetches[root], !fetch.isComplete, authors(of: fetch).contains(author) else { continue }
            tell(author, BlobState(root: root, progress: .verified(fetch.verified)))
        }
    }

    private func authors(of fetch: Fetch) -> Set<PeerID> { Set(fetch.events.compactMap { arrivals[$0]?.peer }) }

    /// Whole mebibytes from one on, else bytes.
    static func mebibytes(_ size: UInt64, roundedUp: Bool) -> String {
        let isMore = roundedUp && !size.isMultiple(of: 1 << 20)
        return size >= 1 << 20 ? "\(size >> 20 + (isMore ? 1 : 0)) MiB" : "\(size) bytes"
    }
}

// What the disk and the source say
extension RoomState {
    mutating func takeBlob(_ event: RoomEvent) {
        switch event {
        case .blobProgress(let root, let progress): blobProgress(root, progress)
        case .blobHashesRefused(let root, let peer): hashesRefused(root, from: peer)
        case .chunkRefused(let root, let chunk, let peer):
            fetches[root]?.inFlight.remove(Int(chunk))
            giveUp(peer, on: root)
        case .blobFailed(let root, let reason): failFetch(root, reason)
        case .placed(let id, let path): placed(id, path)
        case .placeFailed(let id, let reason): placeFailed(id, reason)
        default: break
        }
    }

    private mutating func blobProgress(_ root: BlobRoot, _ progress: BlobProgress) {
        guard var fetch = fetches[root] else { return }
        fetch.isOpen = true
        fetch.hasHashes = progress.hasHashes
        fetch.missing = progress.missing
        if progress.verified > fetch.verified { fetch.failures = 0 }
        fetch.inFlight.formIntersection(progress.missing)
        fetch.verified = progress.verified
        fetch.isComplete = progress.isComplete
        fetches[root] = fetch
        if fetch.hasHashes { failRivals(of: root) }
        if fetch.isComplete {
            timers.cancel(.fetchTimeout(root))
            for id in fetch.events { place(id) }
        } else {
            advanced(fetch)
            proceed(root)
            if !authors(of: fetch).contains(where: { peers[$0]?.isPresent == true }) { stalled(root) }
        }
    }

    private mutating func advanced(_ fetch: Fetch) {
        guard fetch.verified > 0, fetch.verified < fetch.size else { return }
        for id in fetch.events {
            guard let line = arrivals[id] else { continue }
            effects.append(.transfer(id, .advanced(line.peer, to: fetch.verified)))
        }
        for author in authors(of: fetch).sorted() {
            tell(author, BlobState(root: fetch.root, progress: .verified(fetch.verified)))
        }
    }

    /// Asks the source for what comes next, and first finds one.
    private mutating func proceed(_ root: BlobRoot) {
        guard var fetch = fetches[root], fetch.isOpen, !fetch.isComplete else { return }
        if fetch.source == nil {
            fetch.source = source(for: fetch)
            fetch.inFlight = []
            fetch.hashes = []
        }
        guard let source = fetch.source else {
            fetches[root] = fetch
            return retryLater(fetch)
        }
        if !fetch.hasHashes {
            if fetch.inFlight.isEmpty {
                fetch.inFlight = [-1]
                let page = UInt32(fetch.hashes.count / BlobHashes.pageLength)
                effects.append(.sendBlob(source, .blobWant(BlobWant(root: root, part: .hashes(page: page)))))
            }
        } else {
            for chunk in fetch.missing where fetch.inFlight.count < limits.chunksInFlight {
                guard fetch.inFlight.insert(chunk).inserted else { continue }
                effects.append(.sendBlob(source, .blobWant(BlobWant(root: root, part: .chunk(UInt32(chunk))))))
            }
        }
        fetches[root] = fetch
        set(.fetchTimeout(root), after: limits.fetchTimeout)
        show(.receiving, of: fetch) { if case .waiting = $0 { true } else { false } }
    }

    /// Who failed may deliver another time, and who had nothing may have it by then.
    private mutating func retryLater(_ fetch: Fetch) {
        if linked.isEmpty { return }
        let doubled = limits.fetchPause << min(max(fetch.failures, 1) - 1, 16)
        set(.fetchTimeout(fetch.root), after: min(doubled, limits.fetchPauseLimit))
    }

    /// An image's author before others: it has the blob for certain.
    private func source(for fetch: Fetch) -> PeerID? {
        let authors = authors(of: fetch)
        let able = linked.filter { !fetch.lacking.contains($0) }
        return able.first(where: authors.contains) ?? able.first
    }

    mutating func blobHashes(_ page: BlobHashes, from peer: PeerID) {
        guard var fetch = fetches[page.root], fetch.source == peer, fetch.inFlight == [-1],
            Int(page.page) * BlobHashes.pageLength == fetch.hashes.count
        else { return }
        let count = BlobRoot.chunkCount(size: fetch.size)
        fetch.inFlight = []
        fetch.hashes += page.hashes
        let isWhole = fetch.hashes.count == count
        if !isWhole, page.hashes.count < BlobHashes.pageLength || fetch.hashes.count > count {
            return hashesRefused(page.root, from: peer)
        }
        if isWhole {
            fetch.inFlight = [-1]  // nothing more is asked for until the disk has answered
            effects.append(.setHashes(page.root, size: fetch.size, fetch.hashes, from: peer))
            fetch.hashes = []
        }
        fetches[page.root] = fetch
        if !isWhole { proceed(page.root) }
    }

    mutating func blobData(_ data: BlobData, from peer: PeerID) {
        guard let fetch = fetches[data.root], fetch.source == peer, fetch.inFlight.contains(Int(data.chunk)) else {
            return
        }
        effects.append(.writePiece(data, size: fetch.size, from: peer))
        set(.fetchTimeout(data.root), after: limits.fetchTimeout)
    }

    mutating func blobMissing(_ root: BlobRoot, from peer: PeerID) {
        if fetches[root]?.source == peer { giveUp(peer, on: root) }
    }

    mutating func fetchTimedOut(_ root: BlobRoot) {
        if let source = fetches[root]?.source { return giveUp(source, on: root) }
        fetches[root]?.lacking = []
        proceed(root)
    }

    /// Turns to another holder.
    mutating func giveUp(_ peer: PeerID, on root: BlobRoot) {
        guard fetches[root]?.source == peer else { return }
        fetches[root]?.lacking.insert(peer)
        fetches[root]?.source = nil
        fetches[root]?.failures += 1
        timers.cancel(.fetchTimeout(root))
        proceed(root)
        stalled(root)
    }
}

// Holders come and go
extension RoomState {
    mutating func sourceGone(_ peer: PeerID) {
        for root in fetches.keys.sorted() where fetches[root]?.source == peer {
            fetches[root]?.source = nil
            timers.cancel(.fetchTimeout(root))
            proceed(root)
        }
    }

    /// A blob link broke under a chat link that holds.
    mutating func sourceFailed(_ peer: PeerID) {
        for root in fetches.keys.sorted() { giveUp(peer, on: root) }
    }

    mutating func sourceBack(_ peer: PeerID, for root: BlobRoot) {
        fetches[root]?.lacking.remove(peer)
        if fetches[root]?.source == nil { proceed(root) }
    }

    /// A peer left: images that nobody here can deliver say so.
    mutating func stalled() {
        for root in fetches.keys.sorted() { stalled(root) }
    }

    private mutating func stalled(_ root: BlobRoot) {
        guard let fetch = fetches[root], fetch.source == nil, !fetch.isComplete else { return }
        let names = authors(of: fetch).sorted().map { "'\(name(of: $0))'" }.joined(separator: " or ")
        show(.waiting("nobody here delivers it; it goes on when \(names) does"), of: fetch) { _ in true }
    }

    /// Changes the state of a blob's lines, of those that are in one of certain states.
    private mutating func show(_ new: ImageState, of fetch: Fetch, where isMeant: (ImageState) -> Bool) {
        for id in fetch.events + fetch.rivals {
            guard var line = arrivals[id], case .image(let image, let state) = line.content else { continue }
            guard isMeant(state), state != new else { continue }
            line.content = .image(image, new)
            arrivals[id] = line
            effects.append(.update(line))
        }
    }
}

// The end of an arrival
extension RoomState {
    private mutating func place(_ id: EventID) {
        guard let line = arrivals[id], case .image(let image, _) = line.content,
            let label = Names.fileName(forImageNamed: image.name)
        else { return }
        effects.append(.place(id, image.root, label: label))
    }

    private mutating func placed(_ id: EventID, _ path: String) {
        guard let line = arrivals[id], case .image(let image, _) = line.content else { return }
        tellEnd(line.peer, BlobState(root: image.root, progress: .verified(image.size)))
        effects.append(.transfer(id, .finished(line.peer)))
        settle(line, image, id, .received(path: path))
        drop(id, of: image.root)
    }

    private mutating func placeFailed(_ id: EventID, _ reason: String) {
        guard let line = arrivals[id], case .image(let image, _) = line.content else { return }
        fail(line, image, id, reason)
        drop(id, of: image.root)
    }

    private mutating func failFetch(_ root: BlobRoot, _ reason: String) {
        for id in fetches[root]?.events ?? [] {
            guard let line = arrivals.removeValue(forKey: id), case .image(let image, _) = line.content else {
                continue
            }
            fail(line, image, id, reason)
        }
        end(root)
    }

    mutating func fail(_ line: Transcript, _ image: ImageInfo, _ id: EventID, _ reason: String) {
        tellEnd(line.peer, BlobState(root: image.root, progress: .refused(reason)))
        effects.append(.transfer(id, .failed(line.peer, reason: reason)))
        settle(line, image, id, .failed(reason))
    }

    mutating func drop(_ id: EventID, of root: BlobRoot) {
        arrivals[id] = nil
        fetches[root]?.events.removeAll { $0 == id }
        fetches[root]?.rivals.removeAll { $0 == id }
        if fetches[root]?.events.isEmpty == true { end(root) }
    }
}
