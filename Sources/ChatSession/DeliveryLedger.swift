import ChatModel
import History
import Identity
import Locking
import Rx

/// Who has stored what, as the room tells of it.
final class DeliveryLedger: Sendable {
    private struct State: Sendable {
        var book = DeliveryBook()
        /// Of holders whom perhaps only others have met.
        var names: [PeerID: String] = [:]
    }

    private let state: Locked<State>
    private let told = PublishSubject<LogID>()

    init(_ records: DeliveryRecords) {
        var state = State()
        for (log, rosters) in records.rosters {
            for roster in rosters { state.book.enroll(roster.members, in: log, from: roster.first) }
        }
        for (peer, logs) in records.holdings {
            for (log, numbers) in logs { state.book.hold(numbers, of: log, by: peer) }
        }
        for receipt in records.receipts { state.names[receipt.holder] = receipt.content.name }
        self.state = Locked(state)
    }

    /// What a look at a log finds now, and whenever more of the log is known.
    ///
    /// The first look comes after the subscription to changes: one that comes meanwhile is followed by another look.
    func looks<Value: Sendable>(at log: LogID, _ look: @escaping @Sendable () -> Value) -> Observable<Value> {
        Observable.merge(told.filter { $0 == log }.map { _ in }, .just(())).map(look)
    }

    func withBook<Result: Sendable>(_ look: (DeliveryBook) -> Result) -> Result { state.withLock { look($0.book) } }

    func name(of peer: PeerID) -> String? { state.withLock { $0.names[peer] } }

    func take(_ effect: RoomEffect) {
        switch effect {
        case .held(let peer, let log, let numbers):
            state.withLock { $0.book.hold(numbers, of: log, by: peer) }
            told.onNext(log)
        case .enroll(let log, let first, let members):
            state.withLock { $0.book.enroll(members, in: log, from: first) }
            told.onNext(log)
        case .keepReceipt(let receipt): state.withLock { $0.names[receipt.holder] = receipt.content.name }
        default: break
        }
    }
}
