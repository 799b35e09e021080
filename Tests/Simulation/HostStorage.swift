@_spi(Simulation) import ChatModel
import Identity

// What the disk does; the planted bugs of commits are here
extension Host {
    /// What happens when the disk begins with something: nothing, unless a bug is planted.
    func prepare(_ item: Work) {
        switch (world.flaw, item) {
        case (.acknowledgedBeforeCommit, .commit):
            synced = disk
            if let event = commit() { take(event) }
        case (.pushedBeforeCommit, .commit):
            synced = disk
            untold = commit()
            if case .appended(_, let batches)? = untold {
                for other in world.hosts where other.index != index {
                    for batch in batches { send(.batch(batch.bytes), to: other.peer) }
                }
            }
        case (.shownBeforeCommit, .store(let bytes, let peer)):
            synced = disk
            store(bytes, from: peer)
        default: break
        }
    }

    func finish(_ item: Work) {
        switch item {
        case .commit:
            if world.flaw == .unsyncedCommit { synced = disk }
            let event = untold ?? (world.flaw == .acknowledgedBeforeCommit ? nil : commit())
            untold = nil
            if world.flaw != .unsyncedCommit { synced = disk }
            if let event { take(event) }
        case .store(let bytes, let peer):
            if world.flaw != .shownBeforeCommit { store(bytes, from: peer) }
            synced = disk
        case .serve(let want, let peer): serve(want, to: peer)
        case .settle(let want, let peer): take(.answered(by: peer, want))
        }
    }

    /// What a crash may leave of what was under way.
    func persist(_ item: Work) {
        switch item {
        case .commit: _ = commit()
        case .store(let bytes, _):
            if let batch = world.verify(bytes, reader: peer) { _ = keep(batch) }
        case .serve, .settle: break
        }
    }

    private func commit() -> RoomEvent? {
        let waiting = drafts
        drafts = []
        if waiting.isEmpty { return nil }
        if world.now < fullUntil { return .appendFailed(waiting.map(\.command), .storage("disk full")) }
        var appended: [Appended] = []
        var fresh: [BatchEvent] = []
        let log = disk.ownLog
        let head = disk.logs[log]
        let first = (head?.last ?? 0) + 1
        var taken: [CommandID] = []
        for (event, command) in waiting {
            if let used = disk.nonces[event.nonce] {
                if used.body != event.body, world.flaw != .confusedNonce { taken.append(command); continue }
                appended.append(Appended(command: command, id: used.id, number: used.number, isRepeated: true))
            } else {
                let number = first + UInt64(fresh.count)
                appended.append(Appended(command: command, id: .none, number: number, isRepeated: false))
                fresh.append(event)
            }
        }
        if !taken.isEmpty { take(.appendFailed(taken, .nonceTaken)) }
        if fresh.isEmpty { return .appended(appended, []) }
        let previous = head?.lastID ?? .none
        let batch = world.seal(fresh, in: log, first: first, previous: previous, with: key)
        if let issued = world.record.issued[log], issued >= first {
            // Nobody was there to tell that these numbers were given before; the file itself tells of its copy.
            if world.record.rolledBack.contains(index) {
                world.record.doubtful.insert(index)
            } else {
                world.violated("host \(index) gives a number again")
            }
        }
        world.record.issued[log] = batch.last
        if role == .equivocator, world.chance.isOne(in: 3) { addTwin(of: batch, after: batch.previous) }
        if role == .twoFaced {
            if batch.first == 1 { shadow = Disk.Log() }
            let twin = addTwin(of: batch, after: shadow.lastID)
            shadow.add(twin, twin.numbers)
        }
        disk.add(batch)
        for place in appended.indices where !appended[place].isRepeated {
            appended[place].id = batch.id(of: appended[place].number) ?? .none
        }
        return .appended(appended, [batch])
    }

    /// Gives one number to two events: one for some, one for others.
    @discardableResult private func addTwin(of batch: Batch, after previous: EventID) -> Batch {
        var events = batch.events
        events[events.count - 1].body = EventBody.text("twin").encoded(authorName: "host\(index)")
        let twin = world.seal(events, in: batch.log, first: batch.first, previous: previous, with: key)
        twins[batch.bytes] = twin.bytes
        return twin
    }

    /// The own log as a two-faced host shows it to another, where that isn't the one on its disk.
    private func shadow(of log: LogID, for other: Host) -> Disk.Log? {
        role == .twoFaced && log == disk.ownLog && !other.index.isMultiple(of: 2) ? shadow : nil
    }

    private func store(_ bytes: [UInt8], from sender: PeerID) {
        guard let batch = world.verify(bytes, reader: peer) else {
            return take(.batchRefused(from: sender, .seal))
        }
        // An input or output error: nothing is told, and it is asked for again.
        if world.now < fullUntil { return }
        let result = keep(batch)
        if case .stored(let news) = result {
            for (offset, event) in batch.events.enumerated() {
                let number = batch.first + UInt64(offset)
                guard news.contains(where: { $0.numbers.contains(number) }) else { continue }
                if disk.marks[batch.ids[offset]] == nil { saw(event.clock) }
            }
        }
        take(.stored(from: sender, [StoredBatch(batch: batch, result: result)]))
    }

    private func keep(_ batch: Batch) -> StoredBatch.Result {
        let known = disk.logs[batch.log]
        let result = disk.store(batch, wall: wall, flaw: world.flaw, incarnation: world.incarnation())
        if let known, disk.forks[batch.log] == nil, result == .known {
            if batch.numbers.contains(where: { batch.id(of: $0) != known.id(of: $0) }) {
                world.violated("host \(index) takes two histories for one")
            }
        }
        if world.flaw == .keptInnerSeal, case .stored = result, batch.events.count > 1 { split(batch) }
        return result
    }

    private func split(_ batch: Batch) {
        var split: [Batch] = []
        let parts = [batch.events.prefix(1), batch.events.dropFirst()]
        var first = batch.first, previous = batch.previous
        for events in parts {
            let part = Batch(
                simulating: Array(events), in: batch.log, of: World.room, first: first, previous: previous)
            split.append(part)
            first += UInt64(events.count)
            previous = part.lastID
        }
        disk.logs[batch.log]?.split(batch, into: split)
    }

    private func serve(_ want: Want, to peer: PeerID) {
        if role == .withholder {
            if world.chance.isOne(in: 2) { send(.answered(want), to: peer) }
            return
        }
        let count = world.chance.isOne(in: 3) ? Int(world.chance.among(1...8)) : 1_000
        var source = disk
        if let other = world.host(of: peer), let shadow = shadow(of: want.log, for: other) {
            source.logs[want.log] = shadow
        }
        var batches = source.batches(for: want, atMost: count, joined: world.chance.isOne(in: 2))
        if world.flaw == .shortAnswer { batches = batches.dropLast() }
        if isShuffling { batches.shuffle(using: &world.chance) }
        for var bytes in batches {
            if world.flaw == .rottenAnswer { bytes[bytes.count - 70] ^= 1 }
            send(.batch(bytes), to: peer)
        }
        send(.answered(want), to: peer)
    }

    // MARK: Sending

    func send(_ message: SessionMessage, to peer: PeerID) {
        guard isRunning, let other = world.host(of: peer), let link = kept[other.index],
            let message = altered(message, for: other)
        else { return }
        world.send(message, from: self, on: link)
    }

    /// What planted bugs and liars make of a message; checks what honest hosts say.
    private func altered(_ message: SessionMessage, for other: Host) -> SessionMessage? {
        switch message {
        case .batch(let bytes):
            if isHonest { checkSent(bytes) }
            if world.flaw == .unsentProof, isProof(bytes) { return nil }
            if sentOnce.count < 8 { sentOnce.append((bytes, other.index)) }
            return .batch(other.index.isMultiple(of: 2) ? bytes : twins[bytes] ?? bytes)
        case .have(var have):
            if world.flaw == .boastfulHave || role == .withholder { have = boasting(have) }
            if role == .twoFaced { have = facing(have, to: other) }
            if isHonest { check(have) }
            return world.flaw == .lostHaveUpdate && !isIntroducing ? nil : .have(have)
        case .want(let want):
            if world.flaw == .lostWantRetry, !asked.insert(want).inserted { return nil }
            if world.flaw == .lostFill, want.numbers.upperBound < disk.logs[want.log]?.last ?? 0 { return nil }
            return .want(want)
        default: return message
        }
    }

    private func isProof(_ bytes: [UInt8]) -> Bool {
        world.verify(bytes, reader: peer).map { disk.forks[$0.log] != nil } ?? false
    }

    private func boasting(_ have: Have) -> Have {
        var have = have
        for place in have.entries.indices {
            have.entries[place].ranges = have.entries[place].ranges.map {
                EventRange(numbers: $0.numbers.lowerBound...$0.numbers.upperBound + 1, lastID: $0.lastID)
            }
        }
        return have
    }

    private func facing(_ have: Have, to other: Host) -> Have {
        var have = have
        for place in have.entries.indices {
            guard let shadow = shadow(of: have.entries[place].log, for: other) else { continue }
            have.entries[place].ranges = have.entries[place].ranges.map {
                EventRange(numbers: $0.numbers, lastID: shadow.id(of: $0.numbers.upperBound) ?? $0.lastID)
            }
        }
        return have
    }

    private func checkSent(_ bytes: [UInt8]) {
        guard let batch = world.verify(bytes, reader: peer) else { return }
        let isProof = durable.forks[batch.log]?.lastID == batch.lastID
        if !isProof, !durable.holds(batch.lastID, batch.last, of: batch.log) {
            world.violated("host \(index) sends an event that isn't on its disk")
        }
    }

    private func check(_ have: Have) {
        for entry in have.entries {
            for range in entry.ranges where !durable.holds(range.lastID, range.numbers.upperBound, of: entry.log) {
                world.violated("host \(index) claims an event that isn't on its disk")
            }
        }
    }
}
