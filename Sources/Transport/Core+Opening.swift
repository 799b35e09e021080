import Addressing
import Identity
import SystemCalls

/// From the first bytes to a link that is up.
extension Core {
    /// The peer has proven who it is and that it may be in the room.
    func opened(_ link: Link, _ peer: PeerID) {
        if turnedAway(link, peer) { return }
        guard let dial = link.dial else {
            link.peer = peer
            return
        }
        link.peer = peer
        link.purpose = dial.purpose
        win(dial, link)
        let number = nextDialNumber()
        let name = LinkName(dialler: self.peer, instance: instance, number: number)
        link.name = name
        let replaces = dial.purpose == .chat ? replaced(by: dial, peer) : nil
        if let replaces { neighbours[peer]?.chat.table.dialling(name, replacing: replaces) }
        introduce(on: link, number: number, replaces: replaces)
    }

    /// The link that a new one takes the place of: the one that is silent, or the one that was when it went down.
    ///
    /// Until a link that replaces another one is up, or has failed, every further dial replaces the same: else the two
    /// sides could each retire what the other keeps.
    private func replaced(by dial: Dial, _ peer: PeerID) -> LinkName? {
        let pending = links.values.first {
            $0.isDialler && $0.peer == peer && $0.replaces != nil && [.introducing, .probing].contains($0.phase)
        }
        if let pending { return pending.replaces }
        guard dial.replacesSilent else { return nil }
        guard let kept = neighbours[peer]?.chat.kept else { return lostSilently[peer] }
        return kept.liveness.isSilent(.now, limits: limits) ? kept.name : nil
    }

    private func introduce(on link: Link, number: UInt64, replaces: LinkName?) {
        link.replaces = replaces
        link.send(
            .link(Introduction(purpose: link.purpose, instance: instance, number: number, replaces: replaces)))
        if link.purpose == .chat { link.send(control: greeting()) }
    }

    /// Ends a connection in whose opening something was wrong.
    ///
    /// It is closed without a word, whatever it was.
    func refuseOpening(_ link: Link, _ refusal: OpeningRefusal) {
        let isClone = refusal == .ourself && !isOurOwnEnd(of: link)
        if isClone { tell(.clone(peer, link.endpoint)) }
        if link.isDialler {
            // The other end is to hear our proof, and to find us still here if it is in this process too.
            if refusal == .ourself { link.wind(down: .discarding, saying: nil, within: limits.closing) }
            return attemptEnded(link, "\(link.endpoint): \(refusal)")
        }
        if refusal != .ourself { failed(link) }
        drop(link)
        if !isClone { tellRefused(link.endpoint, refusal.description) }
    }

    /// Counts a connection that came in, and didn't become a link, against where it came from.
    func failed(_ link: Link) {
        if let ticket = link.ticket { gate.failed(ticket, now: .now) }
    }

    /// Whether both ends of a connection are in this process.
    private func isOurOwnEnd(of link: Link) -> Bool {
        links.values.contains { $0.isDialler != link.isDialler && $0.local == link.endpoint }
    }

    /// Takes the peer's Link frame, then its greeting.
    func introduced(by frame: Frame, on link: Link) throws(FrameError) {
        if let introduction = link.introduction {
            guard introduction.purpose == .chat, frame.kind >= Frame.firstSessionKind else {
                return try parted(by: frame, on: link)
            }
            link.greeting = frame
            return admit(link)
        }
        guard case .link(let introduction) = try TransportMessage(frame) else { return try parted(by: frame, on: link) }
        try checkAnswer(introduction, on: link)
        link.introduction = introduction
        if !link.isDialler {
            link.purpose = introduction.purpose
            link.replaces = introduction.replaces
            link.name = link.peer.map {
                LinkName(dialler: $0, instance: introduction.instance, number: introduction.number)
            }
        }
        if introduction.purpose == .blob { admit(link) }
    }

    /// The acceptor repeats what the dialler said.
    private func checkAnswer(_ answer: Introduction, on link: Link) throws(FrameError) {
        guard link.isDialler else { return }
        guard answer.purpose == link.purpose, answer.number == link.name?.number, answer.replaces == nil else {
            throw .malformed(kind: 0)
        }
    }

    /// The only other thing that may come before a link is up is Goodbye.
    private func parted(by frame: Frame, on link: Link) throws(FrameError) {
        guard frame.kind < Frame.firstSessionKind, case .goodbye(let reason) = try TransportMessage(frame) else {
            throw .outOfOrder(kind: frame.kind)
        }
        if reason == .clone { tell(.clone(peer, link.endpoint)) }
        abandon(link, "\(link.endpoint) says goodbye: \(reason)")
    }

    /// All that opens a link is there: it comes up, unless another process of the same peer is alive.
    private func admit(_ link: Link) {
        guard let peer = link.peer, let name = link.name, let introduction = link.introduction else { return }
        let neighbour = neighbours[peer]
        let others = otherProcesses(than: introduction.instance, of: neighbour)
        if let problem = obstacle(to: link, name: name, neighbour: neighbour, others: others) {
            return abandon(link, problem, saying: .error)
        }
        if others.isEmpty { return bringUp(link) }
        let nonce = UInt64.random(in: .min ... .max)
        link.phase = .probing
        link.probe = nonce
        link.deadline = Instant.now.advanced(by: limits.cloneProbe)
        note(link.deadline)
        for other in others { other.send(.ping(nonce)) }
    }

    private func otherProcesses(than instance: ProcessInstance, of neighbour: Neighbour?) -> [Link] {
        neighbour?.chat.links.values.filter { $0.introduction?.instance != instance } ?? []
    }

    private func obstacle(to link: Link, name: LinkName, neighbour: Neighbour?, others: [Link]) -> String? {
        if let lane = neighbour?[link.purpose] {
            if lane.links[name] != nil { return "a dial number used twice" }
            if lane.links.count >= limits.linksPerPeer { return "too many links" }
        }
        guard link.purpose == .blob else { return nil }
        return neighbour?.chat.links.isEmpty != false || !others.isEmpty ? "a blob link without a chat link" : nil
    }

    /// The old process answered: the new one is refused.
    func answered(_ nonce: UInt64, of peer: PeerID) {
        for link in links.values where link.phase == .probing && link.probe == nonce && link.peer == peer {
            tell(.clone(peer, link.endpoint))
            abandon(link, "\(link.endpoint): another process uses the same identity", saying: .clone)
        }
    }

    /// Brings up a link that waited, once no other process of its peer is there any more.
    func reconsider(_ peer: PeerID) {
        for link in links.values where link.phase == .probing && link.peer == peer {
            guard let instance = link.introduction?.instance else { continue }
            if otherProcesses(than: instance, of: neighbours[peer]).isEmpty { bringUp(link) }
        }
    }

    /// The old process didn't answer in time: its links make room, and the peer stays linked.
    func probeExpired(_ link: Link) {
        guard let peer = link.peer, let neighbour = neighbours[peer] else { return bringUp(link) }
        for old in neighbour.links { drop(old) }
        let hadBlobs = !neighbour.blob.links.isEmpty
        neighbour.chat = Neighbour.Lane(table: LinkTable(own: self.peer))
        neighbour.blob = Neighbour.Lane(table: LinkTable(own: self.peer))
        if hadBlobs { blobEnded(neighbour) }
        bringUp(link)
        reconsider(peer)
    }

    /// Ends a link that isn't up: its dial fails, or the refusal is told.
    func abandon(_ link: Link, _ reason: String, saying farewell: Farewell? = nil) {
        failed(link)
        if let ticket = link.ticket.take() { gate.leave(ticket) }
        if let farewell {
            link.wind(down: .discarding, saying: farewell, within: limits.closing)
        } else {
            drop(link)
        }
        if link.dial != nil { attemptEnded(link, reason) } else { tellRefused(link.endpoint, reason) }
    }
}
