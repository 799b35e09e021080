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
        case lines([Transcript]), update(Transcript), transfer(TransferSnapshot)
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
            case .lines(let lines):
                newest = max(newest, lines.compactMap(\.arrival).max() ?? 0)
                let notices = lines.filter { $0.arrival == nil }
                if !notices.isEmpty { waiting?.append(.lines(notices)) }
            case .update(let line):
                waiting?.removeAll { if case .update(let other) = $0 { other.id == line.id } else { false } }
                waiting?.append(news)
            case .transfer(let transfer):
                waiting?.removeAll { if case .transfer(let other) = $0 { other.id == transfer.id } else { false } }
                waiting?.append(news)
            }
        }

        /// Where the client is once it has a line that it is to get; `nil` if it isn't.
        ///
        /// What this host says about the room is always new.
        mutating func cursor(behind line: Transcript) -> Cursor? {
            guard var read else { return nil }
            if let arrival = line.arrival {
                guard arrival > read.arrival else { return nil }
                read.arrival = arrival
                self.read = read
            }
            return isWanted(line) ? read : nil
        }

        func isWanted(_ line: Transcript) -> Bool {
            if filter.isEmpty { return true }
            if line.direction == .local, filter.author != nil { return false }
            return filter.takes(author: line.peer, time: line.time)
        }
    }

    private static let step = 500  // lines read at once
    private static let mostWaiting = 1_000
    private static let mostTogether = 256  // lines told at once

    private let connection: ControlConnection
    private let session: SessionContainer
    private let reading: DispatchQueue
    private let state = Locked(State())
    private let bag = DisposeBag()
    private let sheet: NewsSheet

    /// Watches from here on, with the sheet that all watchers of a session share; the disk is waited for on the queue for
    /// `reading`.
    init(_ connection: ControlConnection, of session: SessionContainer, on sheet: NewsSheet, reading: DispatchQueue) {
        self.connection = connection
        self.session = session
        self.reading = reading
        self.sheet = sheet
        session.receivedTogether.subscribe(onNext: { [weak self] in self?.take(.lines($0)) }).disposed(by: bag)
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
        case .lines(let lines): tell(lines)
        case .update(let line):
            let (isWanted, cursor) = state.withLock { ($0.isWanted(line), $0.read) }
            if isWanted { connection.notify(.update(LineView(line, behind: cursor))) }
        case .transfer(let transfer): connection.notify(.transfer(TransferView(transfer)))
        }
    }

    private func tell(_ lines: [Transcript]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let part = lines.count <= Self.mostTogether ? lines : Array(rest.prefix(Self.mostTogether))
            rest = rest.dropFirst(part.count)
            let cursors = state.withLock { state in part.map { state.cursor(behind: $0) } }
            connection.notify(sheet.notifications(of: part, cursors))
            if connection.isBehind { return fallBehind(before: rest) }
        }
    }

    // MARK: A client that is behind

    /// From here on the disk is read, until there is nothing more.
    private func fallBehind(before rest: ArraySlice<Transcript>) {
        let isFirst = state.withLock { state in
            let isFirst = state.waiting == nil
            state.waiting = state.waiting ?? []
            if !rest.isEmpty { state.keep(.lines(Array(rest))) }
            return isFirst
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
            guard let cursor = state.withLock({ $0.cursor(behind: line) }) else { continue }
            connection.notify(.line(LineView(line, behind: cursor)))
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
}
