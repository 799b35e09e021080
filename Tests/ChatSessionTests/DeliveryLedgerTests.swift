import ChatModel
import History
import Identity
import Locking
import ResourceCounting
import Rx
import Testing

@testable import ChatSession

@Suite(.countsResources) struct DeliveryLedgerTests {
    private let log = LogID(author: SigningKey().peer, incarnation: Incarnation(1))
    private let bob = SigningKey().peer

    @Test func `what becomes known during the first look is seen by another one`() {
        let ledger = DeliveryLedger(DeliveryRecords())
        let isFirst = Locked(true)
        let seen = Locked<[Int]>([])

        let subscription = ledger.looks(at: log) {
            let count = ledger.withBook { $0.holders(of: 1, in: log).count }
            let isNow = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if isNow { ledger.take(.held(bob, log, [1...1])) }
            return count
        }
        .subscribe(onNext: { count in seen.withLock { $0.append(count) } })
        subscription.dispose()

        #expect(seen.withLock(\.self) == [0, 1])
    }

    @Test func `another log's news are nobody's here`() {
        let ledger = DeliveryLedger(DeliveryRecords())
        let other = LogID(author: bob, incarnation: Incarnation(1))
        let looks = Locked(0)

        let subscription = ledger.looks(at: log) { looks.withLock { $0 += 1 } }.subscribe()
        ledger.take(.enroll(other, from: 1, [bob]))
        subscription.dispose()

        #expect(looks.withLock(\.self) == 1)
    }
}
