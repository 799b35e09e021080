import Addressing
import Identity
import SystemCalls

/// Links that are up: which is kept, what comes over them, how they end.
extension Core {
    func bringUp(_ link: Link) {
        guard let peer = link.peer, let name = link.name, let introduction = link.introduction else { return }
        let wasHeld = link.phase == .probing
        link.phase = .up
        link.deadline = nil
        link.probe = nil
        link.liveness = Liveness(now: .now, limits: limits, isDialler: link.isDialler)
        if let ticket = link.ticket.take() { gate.leave(ticket) }
        gate.met(at: link.endpoint.address)
        if !link.isDialler { answer(introduction, on: link) }
        if link.purpose == .chat { lostSilently[peer] = nil }
        let neighbour = neighbours[peer] ?? Neighbour(peer, own: self.peer)
        neighbours[peer] = neighbour
        let former = neighbour[link.purpose].kept
        neighbour[link.purpose].links[name] = link
        let decision = neighbour[link.purpose].table.up(name, replacing: link.replaces)
        settle(decision, neighbour, link.purpose, former: former)
        if let greeting = link.greeting.take() { tell(.frame(peer, .chat, greeting)) }
        if let dial = link.dial { finish(dial, .linked(peer)) }
        note(link.nextDeadline)
        if wasHeld { link.resumeReading() }
    }

    /// The acceptor says who it is only now, so that its side is up before the dialler's (see ``LinkTable``).
    private func answer(_ introduction: Introduction, on link: Link) {
        link.send(
            .link(Introduction(purpose: introduction.purpose, instance: instance, number: introduction.number)))
        if introduction.purpose == .chat { link.send(control: greeting()) }
    }

    /// Carries out what the table decided: frames that nothing has been written of go over to the kept link.
    private func settle(
        _ decision: LinkTable.Decision, _ neighbour: Neighbour, _ purpose: LinkPurpose, former: Link?,
        leftover: [Frame] = []
    ) {
        var unsent = leftover
        if decision.isChanged, let former, former.phase == .up { unsent = former.outbox.takeUnsent() + unsent }
        for name in decision.retired {
            guard let loser = neighbour[purpose].links.removeValue(forKey: name) else { continue }
            unsent += loser.outbox.takeUnsent()
            loser.wind(down: .draining, saying: .duplicate, within: limits.drain)
        }
        if decision.isChanged, let kept = neighbour[purpose].kept { announce(kept, neighbour, purpose) }
        hand(unsent, to: neighbour, purpose)
    }

    private func announce(_ kept: Link, _ neighbour: Neighbour, _ purpose: LinkPurpose) {
        switch purpose {
        case .chat: tell(.linkUp(neighbour.peer, endpoint: kept.endpoint, isDialler: kept.isDialler))
        case .blob: blobOpened(neighbour, kept)
        }
    }

    private func hand(_ frames: [Frame], to neighbour: Neighbour, _ purpose: LinkPurpose) {
        if frames.isEmpty { return }
        if let kept = neighbour[purpose].kept {
            send(frames, on: kept)
        } else if purpose == .blob {
            queueBlob(frames, neighbour)
        } else {
            let bytes = frames.reduce(0) { $0 + $1.encodedLength }
            ledger.add(-bytes, to: neighbour.peer, over: purpose)
        }
    }

    // MARK: Sending

    /// Sends on the kept link; `frames` are counted as waiting already.
    func send(_ frames: [Frame], to peer: PeerID, over purpose: LinkPurpose) {
        guard let neighbour = neighbours[peer], !isClosing else {
            let bytes = frames.reduce(0) { $0 + $1.encodedLength }
            return ledger.add(-bytes, to: peer, over: purpose)
        }
        hand(frames, to: neighbour, purpose)
    }

    func send(_ frames: [Frame], on link: Link) {
        link.send(frames)
        if link.outbox.sessionBytes + link.outbox.controlBytes > limits.queuedBytes { overflowed(link) }
    }

    private func overflowed(_ link: Link) {
        violated(link, "it doesn't read: more than \(limits.queuedBytes) bytes wait for it")
    }

    // MARK: Receiving

    func received(_ frame: Frame, on link: Link) throws(FrameError) {
        if link.phase == .introducing { return try introduced(by: frame, on: link) }
        guard let peer = link.peer else { return }
        guard frame.kind < Frame.firstSessionKind else {
            // What is still read from a link that lost is of no use once the peer is gone.
            if neighbours[peer]?.chat.links.isEmpty == false { tell(.frame(peer, link.purpose, frame)) }
            return
        }
        switch try TransportMessage(frame) {
        case .link: throw .outOfOrder(kind: frame.kind)
        case .ping(let nonce):
            guard link.phase == .up else { return }
            link.send(.pong(nonce))
            if link.outbox.controlBytes > limits.queuedBytes { overflowed(link) }
        case .pong(let nonce): answered(nonce, of: peer)
        case .goodbye(let reason): parted(link, peer, reason)
        case .blobLink: blobLinkAsked(on: link, peer)
        }
    }

    private func parted(_ link: Link, _ peer: PeerID, _ reason: Farewell) {
        switch reason {
        case .leaving:
            if link.phase == .up, link.purpose == .chat { depart(peer, by: link) } else { ended(link, .left) }
        case .duplicate, .idle:
            guard link.phase == .up else { return }
            retire(link, saying: nil, limits.drain, end: .closed)
        case .clone:
            tell(.clone(self.peer, link.endpoint))
            ended(link, .closed)
        default: ended(link, .closed)
        }
    }

    /// A peer that leaves says so on each of its links; its word on a chat link counts for all.
    private func depart(_ peer: PeerID, by link: Link) {
        if let neighbour = neighbours[peer] {
            for other in neighbour.links where other !== link { ended(other, .left) }
        }
        ended(link, .left)
    }

    // MARK: Ending

    /// The link is over: its stream has ended or failed, or there is no more use for it.
    func ended(_ link: Link, _ end: LinkEnd) {
        switch link.phase {
        case .up: takeOut(link, end) { drop(link) }
        case .draining, .discarding: drop(link)
        case .closed: break
        case .connecting, .opening, .introducing, .probing:
            if link.isDialler {
                attemptEnded(link, "\(link.endpoint) closed the connection")
            } else {
                failed(link)
                drop(link)
            }
        }
    }

    /// Both directions of a link that was let go of have ended.
    func finished(_ link: Link) { drop(link) }

    /// The peer broke a rule, or stopped reading.
    func violated(_ link: Link, _ reason: String) {
        switch link.phase {
        case .up: retire(link, saying: .error, limits.closing, end: .violated(reason))
        case .connecting, .opening, .introducing, .probing: abandon(link, reason)
        case .draining, .discarding: drop(link)
        case .closed: break
        }
    }

    /// Ends all links with a peer, because the session found that it broke a rule.
    func disconnect(_ peer: PeerID, _ reason: String) {
        for link in neighbours[peer]?.links ?? [] { violated(link, reason) }
    }

    /// Takes a link that is up out of use, and reads on to its end in peace.
    func retire(_ link: Link, saying farewell: Farewell?, _ limit: Duration, end: LinkEnd) {
        let isInPeace = farewell != .error
        takeOut(link, end, keepsFrames: isInPeace) {
            link.wind(down: isInPeace ? .draining : .discarding, saying: farewell, within: limit)
        }
    }

    /// Removes an up link from its lane, lets it end, and tells what follows for the peer.
    ///
    /// `keepsFrames` says whether frames not yet begun may wait for another link of this purpose.
    private func takeOut(_ link: Link, _ end: LinkEnd, keepsFrames: Bool = false, close: () -> Void) {
        guard let peer = link.peer, let name = link.name, let neighbour = neighbours[peer] else { return close() }
        let unsent = link.outbox.takeUnsent()
        let former = neighbour[link.purpose].kept
        neighbour[link.purpose].links[name] = nil
        close()
        let decision = neighbour[link.purpose].table.down(name)
        let isLast = neighbour[link.purpose].table.links.isEmpty
        if isLast, !(keepsFrames && link.purpose == .blob) {
            forget(unsent, of: link)
            settle(decision, neighbour, link.purpose, former: former)
        } else {
            settle(decision, neighbour, link.purpose, former: former, leftover: unsent)
        }
        guard isLast else { return }
        switch link.purpose {
        case .chat: chatEnded(neighbour, name, end)
        case .blob: if neighbour.waiting.isEmpty { blobEnded(neighbour) }
        }
    }

    private func chatEnded(_ neighbour: Neighbour, _ name: LinkName, _ end: LinkEnd) {
        if end == .silent { lostSilently[neighbour.peer] = name }
        let blobs = Array(neighbour.blob.links.values)
        let hadBlobs = !blobs.isEmpty || !neighbour.waiting.isEmpty
        neighbours[neighbour.peer] = nil
        for blob in blobs { drop(blob) }
        if hadBlobs { blobEnded(neighbour) }
        tell(.linkDown(neighbour.peer, end))
        reconsider(neighbour.peer)
    }
}
