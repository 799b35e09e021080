public import ChatModel
import Dispatch
public import History
public import Identity
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
    ///   - filter: Which lines; with an author none that this host said about the room.
    ///   - end: What is read behind the page: the ``TranscriptPage/start`` of the page that follows it.
    /// - Returns: The lines, and where the page before them ends.
    /// - Throws: ``SessionError/unknownLine(_:)``, ``SessionError/foreignCursor``; `HistoryError` when nothing can be read.
    public func page(
        before id: EventID?, count: Int, _ filter: LineFilter = LineFilter(), end: Cursor? = nil
    ) throws -> TranscriptPage {
        let read = try parts.history.queue.sync { try parts.history.page(before: id, count, filter) }
        if let end, end.birth != read.birth { throw SessionError.foreignCursor }
        let lines = shown(read.lines)
        let isFirst = read.lines.count < count
        let woven = notices.woven(
            into: lines, before: read.next.flatMap { Transcript($0, me: peer) }, isBeginning: isFirst || id == nil
        ).filter { $0.id != nil || (filter.author == nil && filter.takes(author: peer, time: $0.time)) }
        let newest = Self.newest(count, of: woven)
        return TranscriptPage(
            lines: newest, earlier: isFirst ? nil : newest.first { $0.id != nil }?.id,
            end: Cursor(birth: read.birth, arrival: min(read.newest, end?.arrival ?? .max)))
    }

    /// What has come since a cursor, in the order in which it came; nothing of what this host said about the room.
    ///
    /// - Parameters:
    ///   - cursor: Of this database.
    ///   - count: How many lines at most, the first ones.
    ///   - filter: Which lines.
    /// - Returns: The lines, and up to where the database was read.
    /// - Throws: ``SessionError/foreignCursor``; `HistoryError` when nothing can be read.
    public func page(
        after cursor: Cursor, count: Int, _ filter: LineFilter = LineFilter()
    ) throws -> TranscriptPage {
        let read = try parts.history.queue.sync { try parts.history.page(after: cursor, count, filter) }
        let lines = shown(read.lines)
        let isMore = read.lines.count >= count
        let last = isMore ? read.lines.last?.arrival ?? cursor.arrival : read.newest
        return TranscriptPage(
            lines: lines, isMore: isMore, end: Cursor(birth: read.birth, arrival: last), isInOrderOfArrival: true)
    }

    /// Stored lines as they stand now.
    private func shown(_ stored: [StoredLine]) -> [Transcript] {
        let isOwn = stored.contains { $0.log.author == peer }
        let blocked = isOwn ? Set(knownPeers.filter { $0.record.verdict == .blocked }.map(\.peer)) : []
        return stored.compactMap { line in
            guard var shown = Transcript(line, me: peer).map(images.current) else { return nil }
            if line.log.author == peer {
                shown.delivery = ledger.withBook { book in
                    book.count(of: line.number, in: line.log) { !blocked.contains($0) }
                }
            }
            return shown
        }
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

    /// Those who have written something that is stored here, with the name under which each did last; waits for the disk.
    public var authors: [PeerID: String] { parts.history.queue.sync { parts.history.authors() } }

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
    /// Oldest first; after a cursor in the order of their arrival.
    public var lines: [Transcript]
    /// The event that the page before this one ends at; `nil` when there is none.
    public var earlier: EventID?
    /// Whether more came after the last line; only after a cursor.
    public var isMore = false
    /// Up to where the database was read.
    public var end: Cursor
    public var isInOrderOfArrival = false

    /// A cursor before all lines of the page, and before ``end``.
    public var start: Cursor {
        Cursor(birth: end.birth, arrival: lines.compactMap { $0.arrival.map { $0 - 1 } }.reduce(end.arrival, min))
    }

    /// For each line a cursor after which nothing is lost of what stands behind it, here or in the database.
    ///
    /// In the order of arrival that is the line's own place. In the transcript's order something behind a line may have come
    /// before it: its cursor is before that, and who goes on from there reads a line twice rather than never.
    public var cursors: [Cursor] {
        var arrival = end.arrival
        let reversed = lines.reversed().map { line -> Int64 in
            defer { if let own = line.arrival { arrival = min(arrival, own - 1) } }
            return isInOrderOfArrival ? line.arrival ?? arrival : arrival
        }
        return reversed.reversed().map { Cursor(birth: end.birth, arrival: $0) }
    }
}

extension History {
    /// What was read at one moment.
    fileprivate struct Reading {
        var lines: [StoredLine]
        /// The line after them.
        var next: StoredLine?
        var newest: Int64
        var birth: Incarnation
    }

    fileprivate func page(before id: EventID?, _ count: Int, _ filter: LineFilter) throws -> Reading {
        var reading = Reading(lines: [], newest: newestArrival, birth: ownLog.incarnation)
        guard let id else {
            reading.lines = try lines(last: count, filter)
            return reading
        }
        guard let next = line(id) else { throw SessionError.unknownLine(id) }
        reading.lines = try lines(before: next.position, count: count, filter)
        reading.next = next
        return reading
    }

    fileprivate func page(after cursor: Cursor, _ count: Int, _ filter: LineFilter) throws -> Reading {
        guard cursor.birth == ownLog.incarnation, cursor.arrival <= newestArrival else {
            throw SessionError.foreignCursor
        }
        return Reading(
            lines: try lines(after: cursor.arrival, count: count, filter), newest: newestArrival,
            birth: ownLog.incarnation)
    }
}

extension Transcript {
    /// A stored line; `nil` for an event of a kind that this version doesn't know.
    init?(_ line: StoredLine, me: PeerID) {
        let event = BatchEvent(
            kind: line.kind, nonce: Nonce(0), clock: line.clock, wallTime: line.wallTime, body: line.body)
        self.init(event, id: line.id, by: line.log.author, isOwn: line.log.author == me, image: line.image?.state)
        arrival = line.arrival
        missing = line.missing
        if line.log.author != me {
            timing = .init(of: line.clock, arrived: line.arrived, clockLead: History.maximumClockLead)
        }
    }
}

extension ImageOutcome {
    var state: ImageState {
        switch self {
        case .sent: .sent
        case .received(let path): .received(path: path)
        case .refused(let reason): .refused(reason)
        case .failed(Self.cancelled): .cancelled
        case .failed(let reason): .failed(reason)
        }
    }
}
