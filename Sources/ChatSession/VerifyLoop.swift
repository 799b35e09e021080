import ChatModel
import Dispatch
import History
import Identity
import Rx
import Transport

/// Tells peers what is on the disk, read anew.
struct VerifyLoop: FeedbackLoop {
    private let history: History
    private let transport: Transport
    private let results = PublishSubject<RoomEvent>()
    private let notes = PublishSubject<String>()

    init(_ history: History, transport: Transport) {
        self.history = history
        self.transport = transport
    }

    var events: Observable<RoomEvent> { results.asObservable() }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {
        guard case .answer(let question, let blocked, let peer) = effect else { return }
        history.queue.async {
            defer { results.onNext(.verifyAnswered(peer)) }
            do throws(HistoryError) {
                let entries = try entries(without: blocked)
                transport.send(
                    Verified.pages(entries, answering: question).map { SessionMessage.verified($0).frame }, to: peer,
                    over: .chat)
            } catch { notes.onNext("a peer's question what is stored here was not answered: \(error)") }
        }
    }

    private func entries(without blocked: Set<PeerID>) throws(HistoryError) -> [Verified.Entry] {
        var entries: [Verified.Entry] = []
        for (log, ranges) in try history.rangesOnDisk() {
            let isLeftOut = blocked.contains(log.author)
            // What is said of a log has at most so many ranges; what is left out counts as missing.
            let said = isLeftOut ? [] : Array(ranges.suffix(Have.maximumRanges))
            entries.append(
                Verified.Entry(
                    Have.Entry(log: log, ranges: said), isForked: history.isForked(log), isLeftOut: isLeftOut))
        }
        return entries
    }
}
