import ChatModel
import ChatSession
import Control
import History
import Locking
import Rx

/// One client that follows the transcript: first what is stored, then what comes, nothing twice and nothing lost.
///
/// What comes while the stored lines are being read waits; if it was stored before that, it is left out.
final class Watcher: Sendable {
    private enum News: Sendable {
        case line(Transcript), update(Transcript), transfer(TransferSnapshot)
    }

    private struct State: Sendable {
        /// `nil` once the stored lines have gone out.
        var waiting: [News]? = []
        /// Up to where the client has been told everything.
        var read: Cursor?
        var filter = LineFilter()
    }

    private let connection: ControlConnection
    private let state = Locked(State())
    private let bag = DisposeBag()

    init(_ connection: ControlConnection, of session: SessionContainer) {
        self.connection = connection
        session.received.subscribe(onNext: { [weak self] in self?.take(.line($0)) }).disposed(by: bag)
        session.update.subscribe(onNext: { [weak self] in self?.take(.update($0)) }).disposed(by: bag)
        session.transfers.subscribe(onNext: { [weak self] in self?.take(.transfer($0)) }).disposed(by: bag)
    }

    /// Answers with the stored lines, then lets through what came meanwhile.
    func begin(with page: TranscriptPage, _ filter: LineFilter, _ reply: ControlReply) {
        state.withLock { state in
            state.read = page.end
            state.filter = filter
        }
        reply.succeed(LogResult(page))
        while let batch = nextBatch() { for news in batch { tell(news) } }
    }

    private func nextBatch() -> [News]? {
        state.withLock { state in
            guard let waiting = state.waiting else { return nil }
            state.waiting = waiting.isEmpty ? nil : []
            return waiting.isEmpty ? nil : waiting
        }
    }

    private func take(_ news: News) {
        let isQueued = state.withLock { state in
            state.waiting?.append(news)
            return state.waiting != nil
        }
        if !isQueued { tell(news) }
    }

    private func tell(_ news: News) {
        switch news {
        case .line(let line):
            guard isNew(line), isWanted(line) else { return }
            connection.notify(.line(view(line)))
        case .update(let line): if isWanted(line) { connection.notify(.update(view(line))) }
        case .transfer(let transfer): connection.notify(.transfer(TransferView(transfer)))
        }
    }

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
