import Identity

/// An image of ours on its way to those who were there when it was sent.
struct Transfer {
    /// How far one receiver is.
    enum Part: Equatable {
        case verified(UInt64)
        case done
        case failed(String)

        var isOver: Bool { if case .verified = self { false } else { true } }
    }

    let line: Transcript
    let image: ImageInfo
    var parts: [PeerID: Part]
    /// When it was cancelled; kept for a while, for those who come later and would fetch it.
    var cancelled: UInt64?

    var isOver: Bool { parts.values.allSatisfy(\.isOver) }
}

extension RoomState {
    mutating func send(_ line: Transcript, _ image: ImageInfo, _ id: EventID) {
        let receivers = linked
        let names = Dictionary(uniqueKeysWithValues: receivers.map { ($0, name(of: $0)) })
        emit(line)
        effects.append(.transfer(id, .started(direction: .send, name: image.name, size: image.size, peers: names)))
        transfers[id] = Transfer(
            line: line, image: image, parts: Dictionary(uniqueKeysWithValues: receivers.map { ($0, .verified(0)) }))
        finishIfOver(id)
    }

    /// A receiver tells how far it is with a blob; it counts for each transfer of that blob to it.
    mutating func blobState(_ state: BlobState, from peer: PeerID) {
        if case .withdrawn(let id) = state.progress { return withdrawn(id, state.root, by: peer) }
        for id in transfers.keys.sorted() where transfers[id]?.image.root == state.root {
            if transfers[id]?.cancelled != nil {
                withdraw(id, from: [peer])
                continue
            }
            guard let transfer = transfers[id], case .verified(let before)? = transfer.parts[peer] else { continue }
            switch state.progress {
            case .refused(let reason): fail(id, peer, reason)
            case .verified(let count) where count >= transfer.image.size:
                transfers[id]?.parts[peer] = .done
                effects.append(.transfer(id, .finished(peer)))
                finishIfOver(id)
            case .verified(let count) where count > before:
                transfers[id]?.parts[peer] = .verified(count)
                effects.append(.transfer(id, .advanced(peer, to: count)))
            case .verified, .withdrawn: break
            }
        }
    }

    mutating func receiverGone(_ peer: PeerID) {
        for id in transfers.keys.sorted() {
            if case .verified? = transfers[id]?.parts[peer] { fail(id, peer, "no longer connected") }
        }
    }

    private mutating func fail(_ id: EventID, _ peer: PeerID, _ reason: String) {
        transfers[id]?.parts[peer] = .failed(reason)
        effects.append(.transfer(id, .failed(peer, reason: reason)))
        finishIfOver(id)
    }

    mutating func cancel(_ id: EventID) {
        if let transfer = transfers[id] {
            if transfer.cancelled != nil { return }
            effects.append(.transfer(id, .cancelled))
            settle(transfer.line, transfer.image, id, .cancelled)
            keepCancelled(transfer.line, transfer.image, id)
            withdraw(id, from: transfer.parts.filter { !$0.value.isOver }.keys.sorted())
        } else if let line = arrivals[id], case .image(let image, _) = line.content {
            effects.append(.transfer(id, .cancelled))
            tellEnd(line.peer, BlobState(root: image.root, progress: .refused(Self.cancelReason)))
            settle(line, image, id, .cancelled)
            drop(id, of: image.root)
        }
    }

    /// Takes up that an own image was cancelled, now or in an earlier run.
    mutating func keepCancelled(_ line: Transcript, _ image: ImageInfo, _ id: EventID) {
        transfers[id] = Transfer(line: line, image: image, parts: [:], cancelled: now)
        let all = transfers.compactMap { id, transfer in transfer.cancelled.map { (time: $0, id: id) } }
        if all.count > limits.endsKept, let oldest = all.min(by: { $0 < $1 }) { transfers[oldest.id] = nil }
    }

    private mutating func withdraw(_ id: EventID, from receivers: [PeerID]) {
        guard let root = transfers[id]?.image.root else { return }
        for peer in receivers where peers[peer]?.isLinked == true {
            effects.append(.send(peer, [.blobState(BlobState(root: root, progress: .withdrawn(id)))]))
        }
    }

    /// An image's sender has cancelled it: what came of it isn't kept, unless that is all of it.
    private mutating func withdrawn(_ id: EventID, _ root: BlobRoot, by sender: PeerID) {
        guard let line = arrivals[id], line.peer == sender, case .image(let image, _) = line.content,
            image.root == root, fetches[root]?.isComplete != true
        else { return }
        let reason = "cancelled by the sender"
        effects.append(.transfer(id, .failed(sender, reason: reason)))
        settle(line, image, id, .failed(reason))
        drop(id, of: root)
    }

    /// The total completes when every part has ended and one at least was verified, or when there was nobody.
    private mutating func finishIfOver(_ id: EventID) {
        guard let transfer = transfers[id], transfer.isOver else { return }
        transfers[id] = nil
        let failures = transfer.parts.keys.sorted().compactMap { peer -> String? in
            if case .failed(let reason)? = transfer.parts[peer] { "\(name(of: peer)): \(reason)" } else { nil }
        }
        let isFailed = !failures.isEmpty && failures.count == transfer.parts.count
        settle(transfer.line, transfer.image, id, isFailed ? .failed(failures.joined(separator: "; ")) : .sent)
    }

    mutating func settle(_ line: Transcript, _ image: ImageInfo, _ id: EventID, _ state: ImageState) {
        var line = line
        line.content = .image(image, state)
        effects.append(.note(id, state))
        effects.append(.update(line))
    }
}
