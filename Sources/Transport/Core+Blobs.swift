import Identity

/// Blob links: opened when something waits for one, by whoever dialled the chat link.
extension Core {
    /// Queues frames until a blob link is there, and has one opened.
    func queueBlob(_ frames: [Frame], _ neighbour: Neighbour) {
        neighbour.waiting += frames
        neighbour.waitingBytes += frames.reduce(0) { $0 + $1.encodedLength }
        if neighbour.waitingBytes > limits.queuedBytes { return blobEnded(neighbour) }
        guard neighbour.blobDeadline == nil, let chat = neighbour.chat.kept else { return }
        neighbour.blobDeadline = Instant.now.advanced(by: limits.opening)
        note(neighbour.blobDeadline)
        if chat.isDialler { dialBlob(neighbour.peer, by: chat) } else { chat.send(.blobLink) }
    }

    private func dialBlob(_ peer: PeerID, by chat: Link) {
        begin(Dial(id: nil, purpose: .blob, endpoints: [chat.endpoint], expecting: peer, replacesSilent: false))
    }

    /// The acceptor of a chat link asks for a blob link.
    func blobLinkAsked(on link: Link, _ peer: PeerID) {
        let isDialling = dials.values.contains { $0.purpose == .blob && $0.expecting == peer }
        if link.isDialler, !isDialling { dialBlob(peer, by: link) }
    }

    func blobOpened(_ neighbour: Neighbour, _ link: Link) {
        neighbour.blobDeadline = nil
        neighbour.waitingBytes = 0
        send(exchange(&neighbour.waiting, with: []), on: link)
    }

    /// The blob link is gone or couldn't be opened, and what waited for it with it.
    func blobEnded(_ neighbour: Neighbour) {
        neighbour.blobDeadline = nil
        ledger.add(-neighbour.waitingBytes, to: neighbour.peer, over: .blob)
        neighbour.waiting = []
        neighbour.waitingBytes = 0
        tell(.blobLinkDown(neighbour.peer))
    }

    /// Our own dial for a blob link failed.
    func blobDialFailed(_ peer: PeerID) {
        if let neighbour = neighbours[peer], neighbour.blobDeadline != nil { blobEnded(neighbour) }
    }
}

private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
    let old = value
    value = new
    return old
}
