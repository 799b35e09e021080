public import ChatModel
import Dispatch
public import History
import Identity
public import Rx

extension SessionContainer {
    /// The newest lines of the transcript, oldest first.
    ///
    /// Stored ones are in the order that is the same on every host; between them stands, by its time, what this host
    /// said about the room since it joined. Waits for the disk: not to be called on the session's queue.
    public func transcripts(last count: Int) throws -> [Transcript] {
        let stored = try parts.history.queue.sync { try parts.history.lines(last: count) }
        return notices.woven(into: stored.compactMap { Transcript($0, me: peer) }.map(images.current)).suffix(count)
    }

    /// Peers met before, away or not; waits for the disk.
    public var knownPeers: [KnownPeer] { parts.history.queue.sync { parts.history.knownPeers() } }

    /// A transfer that is under way or ended lately.
    ///
    /// Waits for the session's queue: not to be called on it.
    public func transfer(_ id: EventID) -> TransferSnapshot? { parts.queue.sync { book.snapshot(of: id) } }

    /// A transfer from now on: how it stands, then each change; completes when it is over.
    ///
    /// Cold; empty for a transfer that isn't known. Delivered on the session's queue.
    public func follow(_ id: EventID) -> Observable<TransferSnapshot> {
        .create { [parts, book] observer in
            let subscription = SerialDisposable()
            parts.queue.async {
                guard let now = book.snapshot(of: id) else { return observer.onCompleted() }
                observer.onNext(now)
                if now.state.isOver { return observer.onCompleted() }
                subscription.disposable = book.snapshots.filter { $0.id == id }.subscribe(onNext: { snapshot in
                    observer.onNext(snapshot)
                    if snapshot.state.isOver { observer.onCompleted() }
                })
            }
            return subscription
        }
    }

    /// The progress of a transfer, to be watched through ``ReportingProgress/changed``.
    ///
    /// Use it on the session's queue alone; call this from elsewhere.
    public func progress(of id: EventID) -> ReportingProgress? { parts.queue.sync { book.progress(of: id) } }
}

extension Transcript {
    /// A stored line; `nil` for an event of a kind that this version doesn't know.
    init?(_ line: StoredLine, me: PeerID) {
        let event = BatchEvent(
            kind: line.kind, nonce: Nonce(0), clock: line.clock, wallTime: line.wallTime, body: line.body)
        self.init(event, id: line.id, by: line.log.author, isOwn: line.log.author == me, image: line.image?.state)
    }
}

extension ImageOutcome {
    var state: ImageState {
        switch self {
        case .sent: .sent
        case .received(let path): .received(path: path)
        case .refused(let reason): .refused(reason)
        case .failed(let reason): .failed(reason)
        }
    }
}
