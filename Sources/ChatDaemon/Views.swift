import Addressing
import ChatModel
import ChatSession
import Control
import History
import Identity
import SystemCalls

extension LineView {
    /// With the cursor to go on from behind it, if that is known.
    init(_ line: Transcript, behind cursor: Cursor?) {
        self.init(line)
        self.cursor = cursor?.description
    }

    init(_ line: Transcript) {
        let direction: Direction =
            switch line.direction {
            case .send: .send
            case .receive: .receive
            case .local: .local
            }
        self.init(
            id: line.id?.description, direction: direction, kind: .text, author: line.peer.description,
            suffix: line.peer.suffix, name: line.name, time: Int(clamping: line.time))
        switch line.timing {
        case .usual: break
        case .late(let delay): late = Int(clamping: delay)
        case .ahead(let lead): ahead = Int(clamping: lead)
        }
        if line.missing > 0 { missing = Int(clamping: line.missing) }
        delivery = line.delivery.map(DeliveryCountView.init)
        switch line.content {
        case .text(let text): self.text = text
        case .notice(let text):
            kind = .notice
            self.text = text
        case .unreadable(let reason):
            kind = .notice
            text = "a message that can't be read: \(reason)"
        case .image(let info, let state):
            kind = .image
            image = ImageView(info, state)
            transfer = line.id?.description
        }
    }
}

extension ImageView {
    init(_ info: ImageInfo, _ state: ImageState) {
        self.init(
            name: info.name, mediaType: info.mediaType, size: Int(clamping: info.size),
            width: info.width == 0 ? nil : Int(info.width), height: info.height == 0 ? nil : Int(info.height),
            root: info.root.description, state: .sending)
        switch state {
        case .sending: self.state = .sending
        case .sent: self.state = .sent
        case .receiving: self.state = .receiving
        case .received(let path):
            self.state = .received
            self.path = path
        case .waiting(let reason): (self.state, self.reason) = (.waiting, reason)
        case .refused(let reason): (self.state, self.reason) = (.refused, reason)
        case .failed(let reason): (self.state, self.reason) = (.failed, reason)
        case .cancelled: self.state = .cancelled
        }
    }
}

extension LogResult {
    /// Without cursors where newer lines follow the page, so that nobody goes on behind it.
    init(_ page: TranscriptPage, isOlder: Bool = false) {
        let lines = zip(page.lines, page.cursors).map { LineView($0, behind: isOlder ? nil : $1) }
        self.init(
            lines: lines, earlier: page.earlier?.description, more: page.isMore ? true : nil,
            cursor: isOlder ? nil : page.end.description, start: isOlder ? nil : page.start.description)
    }
}

extension TransferView {
    init(_ snapshot: TransferSnapshot) {
        let (state, reason) = Self.state(snapshot.state)
        self.init(
            transfer: snapshot.id.description, name: snapshot.name,
            direction: snapshot.direction == .send ? .send : .receive,
            completed: Int(clamping: snapshot.progress.completedUnitCount),
            total: Int(clamping: snapshot.progress.totalUnitCount), state: state, reason: reason,
            peers: snapshot.parts.map(Peer.init))
    }

    fileprivate static func state(_ state: TransferSnapshot.State) -> (State, String?) {
        switch state {
        case .running: (.running, nil)
        case .done: (.done, nil)
        case .cancelled: (.cancelled, nil)
        case .failed(let reason): (.failed, reason)
        }
    }
}

extension TransferView.Peer {
    init(_ part: TransferSnapshot.Part) {
        let (state, reason) = TransferView.state(part.state)
        self.init(
            peer: part.peer.description, name: part.name, completed: Int(clamping: part.progress.completedUnitCount),
            total: Int(clamping: part.progress.totalUnitCount), state: state, reason: reason)
    }
}

extension PeerView {
    init(_ status: PeerStatus) {
        self.init(
            peer: status.peer.description, name: status.name, suffix: status.peer.suffix, state: State(status.state),
            endpoint: status.endpoint?.text(naming: interfaceName), since: Int(clamping: status.since),
            lastSeen: status.state == .away ? Int(clamping: status.record?.lastSeen ?? status.since) : nil)
        if let record = status.record { take(record) }
        warning = status.alarm?.text
        clockOffset = status.clockOffset.map { Int(clamping: $0) }
        failure = status.failure
    }

    /// One met or judged before, that hasn't been seen since the start.
    init(_ known: KnownPeer) {
        self.init(
            peer: known.peer.description, name: known.record.name.isEmpty ? known.peer.suffix : known.record.name,
            suffix: known.peer.suffix, state: .away, since: Int(clamping: known.record.lastSeen),
            lastSeen: Int(clamping: known.record.lastSeen))
        take(known.record)
    }

    private mutating func take(_ record: PeerRecord) {
        firstSeen = record.isMet ? Int(clamping: record.firstSeen) : nil
        verdict = record.verdict == .none ? nil : "\(record.verdict)"
    }
}
