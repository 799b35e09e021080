import ChatModel
import ChatSession
import Control
import Dispatch
import History
import Identity
import Locking
import Rx

/// One client that follows the transcript: first what is stored, then what comes, nothing twice and nothing lost.
///
/// A client that reads more slowly than lines come is told them from the disk, as fast as it reads: a newcomer's 100,000 take
/// no more memory than a few hundred, and none is left out.
final class Watcher: Sendable {
    private enum News: Sendable {
        case line(Transcript), update(Transcript), transfer(TransferSnapshot)
    }

    private struct State: Sendable {
        /// What isn't on the disk, while the client is behind; `nil` while it can be told at once.
        var waiting: [News]? = []
        /// The newest line that came meanwhile.
        var newest: Int64 = 0
        /// Up to where the client has been told everything.
        var read: Cursor?
        var filter = LineFilter()

        /// Of a line or a transfer the newest state alone; of what this host says about the room everything.
        mutating func keep(_ news: News) {
            switch news {
            case .line(let line):
                if let arrival = line.arrival { newest = max(newest, arrival) } else { waiting?.append(news) }
            case .update(let line):
                waiting?.removeAll { if case .update(let other) = $0 { other.id == line.id } else { false } }
                waiting?.append(news)
            case .transfer(let transfer):
                waiting?.removeAll { if case .transfer(let other) = $0 { other.id == transfer.id } else { false } }
                waiting?.append(news)
            }
        }
    }

    private static let step = 500  // lines read at once
    private static let mostWaiting = 1_000

    private let connection: ControlConnection
    private let session: SessionContainer
    private let reading: DispatchQueue
    private let state = Locked(State())
    private let bag = DisposeBag()

    /// Watches from here on; the disk is waited for on the queue for `reading`.
    init(_ connection: ControlConnection, of session: SessionContainer, reading: DispatchQueue) {
        self.connection = connection
        self.session = session
        self.reading = reading
        session.received.subscribe(onNext: { [weak self] in self?.take(.line($0)) }).disposed(by: bag)
        session.update.subscribe(onNext: { [weak self] in self?.take(.update($0)) }).disposed(by: bag)
        session.transfers.subscribe(onNext: { [weak self] in self?.take(.transfer($0)) }).disposed(by: bag)
    }

    /// Answers with the stored lines, then goes on with what came meanwhile; on the queue for reading.
    func begin(with page: TranscriptPage, _ filter: LineFilter, _ reply: ControlReply) {
        state.withLock { state in
            state.read = page.end
            state.filter = filter
        }
        reply.succeed(LogResult(page))
        catchUp()
    }

    private func take(_ news: News) {
        let waiting = state.withLock { state in
            if state.waiting != nil { state.keep(news) }
            return state.waiting?.count
        }
        guard let waiting else { return tell(news) }
        if waiting > Self.mostWaiting {
            connection.notify(.gap)
            connection.close()
        }
    }

    private func tell(_ news: News) {
        switch news {
        case .line(let line):
            guard isNew(line), isWanted(line) else { return }
            connection.notify(.line(view(line)))
            if connection.isBehind { fallBehind() }
        case .update(let line): if isWanted(line) { connection.notify(.update(view(line))) }
        case .transfer(let transfer): connection.notify(.transfer(TransferView(transfer)))
        }
    }

    // MARK: A client that is behind

    /// From here on the disk is read, until there is nothing more.
    private func fallBehind() {
        let isFirst = state.withLock { state in
            defer { state.waiting = state.waiting ?? [] }
            return state.waiting == nil
        }
        if isFirst { goOnWhenRead() }
    }

    private func goOnWhenRead() {
        connection.whenRead { [weak self] in
            guard let self else { return }
            reading.async { [weak self] in self?.catchUp() }
        }
    }

    /// Tells a page of what is on the disk, and at its end what isn't; goes on later, after others' work on the queue.
    private func catchUp() {
        guard let page = nextPage() else { return }
        for line in page.lines {
            if connection.isBehind { return goOnWhenRead() }
            if isNew(line) { connection.notify(.line(view(line))) }
        }
        if !page.isMore {
            state.withLock { $0.read = page.end }
            while let news = nextNews() { for news in news { tell(news) } }
            if state.withLock({ $0.waiting == nil }) { return }
        }
        reading.async { [weak self] in self?.catchUp() }
    }

    /// - Returns: `nil` when the disk can't be read; the client is let go then, or it would wait for ever.
    private func nextPage() -> TranscriptPage? {
        let (read, filter) = state.withLock { ($0.read, $0.filter) }
        guard let read, let page = try? session.page(after: read, count: Self.step, filter) else {
            connection.notify(.gap)
            connection.close()
            return nil
        }
        return page
    }

    /// - Returns: `nil` when the disk has more, or nothing is left: the client is told at once what comes from then on.
    private func nextNews() -> [News]? {
        state.withLock { state in
            guard let waiting = state.waiting, state.newest <= state.read?.arrival ?? 0 else { return nil }
            state.waiting = waiting.isEmpty ? nil : []
            return waiting.isEmpty ? nil : waiting
        }
    }

    // MARK: Which lines

    /// Takes note of how far the client is; what this host says about the room is always new.
    private func isNew(_ line: Transcript) -> Bool {
        guard let arrival = line.arrival else { return true }
        return state.withLock { state in
            guard let read = state.read, arrival > read.arrival else { return false }
            state.read?.arrival = arrival
            return true
        }
    }

    private func isWanted(_ line: Transcript) -> Bool {
        let filter = state.withLock { $0.filter }
        if line.direction == .local, filter.author != nil { return false }
        return filter.takes(author: line.peer, time: line.time)
    }

    private func view(_ line: Transcript) -> LineView {
        var view = LineView(line)
        view.cursor = state.withLock { $0.read }?.description
        return view
    }
}
