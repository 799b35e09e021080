import ChatModel
import Identity
import Testing

@testable import History

struct DeliveryTests {
    private let scratch: Scratch
    private let key = SigningKey()
    private let bob = SigningKey().peer
    private let carol = SigningKey()

    init() throws { scratch = try Scratch() }

    private func open() throws -> History { try History.open(directory: scratch.path, room: lab, key: key).0 }

    private func receipt(_ counter: UInt64) -> Receipt {
        Receipt(signing: .init(counter: counter, name: "carol", links: [], entries: []), in: lab, with: carol)
    }

    @Test func `what is known of who has stored what is there after the next start`() throws {
        let first = try open()
        _ = try first.append(text("one"))
        let log = first.on { $0.ownLog }
        try first.on { history in
            try history.enroll([bob], in: log, from: 1)
            try history.enroll([bob, carol.peer], in: log, from: 2)
            try history.keep(
                holdings: [log: [bob: [1...2, 7...9], carol.peer: [1...1]]], receipts: [receipt(1), receipt(2)])
            try history.keep(holdings: [log: [carol.peer: []]], receipts: [])
            history.close()
        }

        let records = try open().on { $0.deliveryRecords() }

        #expect(
            records.rosters == [
                log: [.init(first: 1, members: [bob]), .init(first: 2, members: [bob, carol.peer])]
            ])
        #expect(records.holdings == [bob: [log: [1...2, 7...9]]])
        #expect(records.receipts == [receipt(2)])
    }

    @Test func `a history from before these tables gets them, and of unknown logs nothing is kept`() throws {
        let first = try open()
        _ = try first.append(text("one"))
        try first.on { history in
            try history.writer.setBack(to: 3)
            history.close()
        }

        let second = try open()
        let unknown = LogID(author: bob, incarnation: Incarnation(1))
        try second.on { history in
            #expect(history.deliveryRecords().rosters.isEmpty)
            try history.enroll([bob], in: unknown, from: 1)
            try history.keep(holdings: [unknown: [bob: [1...1]]], receipts: [])
            try history.enroll([bob], in: history.ownLog, from: 1)
            #expect(Array(history.deliveryRecords().rosters.keys) == [history.ownLog])
        }
    }
}
