import Identity

// Images of one root that were announced with different sizes: one at most is right
extension RoomState {
    /// Either the size is wrong that the image was announced with, or the hashes are: other sizes are tried first.
    mutating func hashesRefused(_ root: BlobRoot, from peer: PeerID) {
        guard var fetch = fetches[root], fetch.source == peer else { return }
        fetch.wrongSizes.insert(fetch.size)
        guard let size = fetch.rivals.compactMap(announcedSize).first(where: { !fetch.wrongSizes.contains($0) }) else {
            fetches[root]?.wrongSizes = []
            return giveUp(peer, on: root)
        }
        timers.cancel(.fetchTimeout(root))
        turn(&fetch, to: size)
        fetches[root] = fetch
        effects.append(.beginBlob(root, size: size))
    }

    private func turn(_ fetch: inout Fetch, to size: UInt64) {
        let all = fetch.events + fetch.rivals
        fetch.events = all.filter { announcedSize($0) == size }
        fetch.rivals = all.filter { announcedSize($0) != size }
        fetch.size = size
        fetch.isOpen = false
        fetch.inFlight = []
        fetch.hashes = []
    }

    private func announcedSize(_ id: EventID) -> UInt64? {
        if case .image(let image, _)? = arrivals[id]?.content { image.size } else { nil }
    }

    mutating func failRivals(of root: BlobRoot) {
        for id in fetches[root]?.rivals ?? [] {
            guard let line = arrivals.removeValue(forKey: id), case .image(let image, _) = line.content else {
                continue
            }
            fail(line, image, id, "its size isn't that of its bytes")
        }
        fetches[root]?.rivals = []
    }

    /// Ends a fetch; images of the same root with another size begin one of their own.
    mutating func end(_ root: BlobRoot) {
        timers.cancel(.fetchTimeout(root))
        guard var fetch = fetches.removeValue(forKey: root) else { return }
        guard let size = fetch.rivals.compactMap(announcedSize).first else {
            if !fetch.isComplete { effects.append(.abandonBlob(root)) }
            return
        }
        fetch.events = []
        turn(&fetch, to: size)
        var next = Fetch(root: root, size: size, events: fetch.events)
        next.rivals = fetch.rivals
        fetches[root] = next
        effects.append(.beginBlob(root, size: size))
    }
}
