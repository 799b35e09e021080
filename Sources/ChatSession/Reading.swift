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
    public func transcripts(last count: Int) throws -> [Transcript] { try page(before: nil, count: count).lines }

    /// One page of the transcript, as ``transcripts(last:)`` orders it.
    ///
    /// - Parameters:
    ///   - id: The event whose line stands after the page; `nil` for the newest page.
    ///   - count: How many lines at most, those next to that event.
    /// - Returns: The lines, and where the page before them ends.
    /// - Throws: ``SessionError/unknownLine(_:)``; `HistoryError` when nothing can be read.
    public func page(before id: EventID?, count: Int) throws -> TranscriptPage {
        let (stored, next) = try parts.history.queue.sync { try parts.history.page(before: id, count) }
        let lines = stored.compactMap { Transcript($0, me: peer) }.map(images.current)
        let isFirst = stored.count < count
        let woven = notices.woven(
            into: lines, before: next.flatMap { Transcript($0, me: peer) }, isBeginning: isFirst || id == nil)
        let newest = Self.newest(count, of: woven)
        return TranscriptPage(lines: newest, earlier: isFirst ? nil : newest.first { $0.id != nil }?.id)
    }

    /// With a stored line among them if there is one: pages begin and end at those.
    private static func newest(_ count: Int, of lines: [Transcript]) -> [Transcript] {
        let newest = Array(lines.suffix(count))
        guard count > 0, !newest.contains(where: { $0.id != nil }), let last = lines.last(where: { $0.id != nil })
        else {
            return newest
        }
        return [last] + newest.dropFirst()
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

/// A part of the transcript.
public struct TranscriptPage: Sendable, Equatable {
    /// Oldest first.
    public var lines: [Transcript]
    /// The event that the page before this one ends at; `nil` when there is none.
    public var earlier: EventID?
}

extension History {
    /// - Returns: The lines, and the one after them.
    fileprivate func page(before id: EventID?, _ count: Int) throws -> ([StoredLine], StoredLine?) {
        guard let id else { return (try lines(last: count), nil) }
        guard let next = line(id) else { throw SessionError.unknownLine(id) }
        return (try lines(before: next.position, count: count), next)
    }
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
