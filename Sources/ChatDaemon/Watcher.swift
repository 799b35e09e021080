import ChatModel
import ChatSession
import Control
import Locking
import Rx

/// One client that follows the transcript: first what is stored, then what comes, nothing twice and nothing lost.
///
/// What comes while the stored lines are being read waits; if it was read as well, it is left out.
final class Watcher: Sendable {
    private struct State: Sendable {
        /// `nil` once the stored lines have gone out.
        var waiting: [ControlNotification]? = []
        /// Lines read from the disk whose news may still be on its way.
        var read: Set<String> = []
    }

    private let connection: ControlConnection
    private let state = Locked(State())
    private let bag = DisposeBag()

    init(_ connection: ControlConnection, of session: SessionContainer) {
        self.connection = connection
        session.received.subscribe(onNext: { [weak self] line in self?.take(.line(LineView(line))) }).disposed(by: bag)
        session.update.subscribe(onNext: { [weak self] line in self?.take(.update(LineView(line))) }).disposed(by: bag)
        session.transfers.subscribe(onNext: { [weak self] transfer in self?.take(.transfer(TransferView(transfer))) })
            .disposed(by: bag)
    }

    /// Answers with the stored lines, then lets through what came meanwhile.
    func begin(with lines: [LineView], _ reply: ControlReply) {
        state.withLock { $0.read = Set(lines.compactMap(\.id)) }
        reply.succeed(LogResult(lines: lines))
        while let batch = nextBatch() {
            for notification in batch where !wasRead(notification) { connection.notify(notification) }
        }
    }

    private func nextBatch() -> [ControlNotification]? {
        state.withLock { state in
            guard let waiting = state.waiting else { return nil }
            state.waiting = waiting.isEmpty ? nil : []
            return waiting.isEmpty ? nil : waiting
        }
    }

    private func take(_ notification: ControlNotification) {
        let isQueued = state.withLock { state in
            state.waiting?.append(notification)
            return state.waiting != nil
        }
        if !isQueued, !wasRead(notification) { connection.notify(notification) }
    }

    private func wasRead(_ notification: ControlNotification) -> Bool {
        guard case .line(let line) = notification, let id = line.id else { return false }
        return state.withLock { $0.read.remove(id) != nil }
    }
}
