import ChatModel
import Dispatch
import History
import Identity
import Rx
import Transport

/// Tells peers what is on the disk, read anew.
struct VerifyLoop: FeedbackLoop {
    private static let pause = 100  // milliseconds, at least, between two answers to one peer

    private let history: History
    private let audit: Audit
    private let queue = DispatchQueue(label: "chat.session.answers")
    private let transport: Transport
    private let results = PublishSubject<RoomEvent>()
    private let notes = PublishSubject<String>()

    init(_ history: History, _ audit: Audit, transport: Transport) {
        self.history = history
        self.audit = audit
        self.transport = transport
    }

    var events: Observable<RoomEvent> { results.asObservable() }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {
        guard case .answer(let question, let blocked, let peer) = effect else { return }
        queue.async {
            var start = DispatchTime.now()
            defer { answered(peer, since: start) }
            do {
                try audit.run(isBrief: true)
                start = .now()
                let held = try history.queue.sync { try entries(without: blocked) }
                transport.send(
                    Verified.pages(held, answering: question).map { SessionMessage.verified($0).frame }, to: peer,
                    over: .chat)
            } catch { notes.onNext("a peer's question what is stored here was not answered: \(error)") }
        }
    }

    /// Whoever asks again and again keeps the disk busy for a small part of the time.
    private func answered(_ peer: PeerID, since start: DispatchTime) {
        let taken = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
        let pause = max(Self.pause, 9 * Int(clamping: taken / 1_000_000))
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [results] in
            results.onNext(.verifyAnswered(peer))
        }
    }

    private func entries(without blocked: Set<PeerID>) throws(HistoryError) -> [Verified.Entry] {
        var entries: [Verified.Entry] = []
        for (log, ranges) in try history.withoutDamage(history.rangesOnDisk()) {
            let isLeftOut = blocked.contains(log.author)
            // What is said of a log has at most so many ranges; what is left out counts as missing.
            let said = isLeftOut ? [] : Array(ranges.all.suffix(EventRanges.maximumCount))
            entries.append(
                Verified.Entry(
                    Have.Entry(log: log, ranges: said), isForked: history.isForked(log), isLeftOut: isLeftOut))
        }
        return entries
    }
}
