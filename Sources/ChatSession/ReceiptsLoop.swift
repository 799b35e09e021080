import ChatModel
import Dispatch
import History
import Identity
import Locking
import Rx

/// Signs and verifies receipts, and keeps what is known of who has stored what.
final class ReceiptsLoop: FeedbackLoop {
    /// What is to be written, gathered for a while: losing it to a crash costs only knowledge that comes again.
    private struct Unkept {
        var holdings: [LogID: [PeerID: [ClosedRange<UInt64>]]] = [:]
        var receipts: [PeerID: Receipt] = [:]
        var isScheduled = false
    }

    private static let keepPause = 1_000  // milliseconds

    private let history: History
    private let room: RoomID
    private let key: SigningKey
    private let queue = DispatchQueue(label: "chat.session.receipts")
    private let unkept = Locked(Unkept())
    private let results = PublishSubject<RoomEvent>()
    private let notes = PublishSubject<String>()

    init(_ history: History, room: RoomID, key: SigningKey) {
        self.history = history
        self.room = room
        self.key = key
    }

    var events: Observable<RoomEvent> { results.asObservable() }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {
        switch effect {
        case .signReceipt(let content):
            queue.async { [self] in
                results.onNext(.receiptVerified(Receipt(signing: content, in: room, with: key)))
            }
        case .verifyReceipt(let receipt, let peer):
            queue.async { [self] in
                results.onNext(
                    receipt.holds(in: room) ? .receiptVerified(receipt) : .receiptRefused(receipt, from: peer))
            }
        case .keepReceipt(let receipt): keepSoon { $0.receipts[receipt.holder] = receipt }
        case .held(let peer, let log, let numbers) where log.author == key.peer:
            keepSoon { $0.holdings[log, default: [:]][peer] = numbers }
        case .enroll(let log, let first, let members):
            history.queue.async { [self] in
                write { history throws(HistoryError) in try history.enroll(members, in: log, from: first) }
            }
        default: break
        }
    }

    private func keepSoon(_ change: (inout Unkept) -> Void) {
        let isFirst = unkept.withLock { unkept in
            change(&unkept)
            defer { unkept.isScheduled = true }
            return !unkept.isScheduled
        }
        if !isFirst { return }
        history.queue.asyncAfter(deadline: .now() + .milliseconds(Self.keepPause)) { [self] in keep() }
    }

    /// Writes what isn't written yet; on the history's queue.
    func keep() {
        let taken = unkept.withLock { unkept in
            defer { unkept = Unkept() }
            return unkept
        }
        if taken.holdings.isEmpty, taken.receipts.isEmpty { return }
        write { history throws(HistoryError) in
            try history.keep(holdings: taken.holdings, receipts: taken.receipts.values)
        }
    }

    private func write(_ work: (History) throws(HistoryError) -> Void) {
        do throws(HistoryError) { try work(history) } catch { notes.onNext("who has stored what isn't kept: \(error)") }
    }
}
