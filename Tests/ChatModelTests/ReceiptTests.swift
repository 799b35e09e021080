import Identity
import Testing

@testable import ChatModel

struct ReceiptTests {
    private let key = Samples.key(1)

    private func content(entries: Int = 2, links: Int = 2) -> Receipt.Content {
        Receipt.Content(
            counter: 7, name: "alice", links: (0..<links).map { Receipt.Mark(value: UInt64($0)) },
            entries: (0..<entries).map { number in
                let ranges = (0..<UInt64(number % 4 + 1)).map { index in
                    EventRange(numbers: index * 10 + 1...index * 10 + 5, lastID: .none)
                }
                return Have.Entry(
                    log: LogID(author: key.peer, incarnation: Incarnation(UInt128(number))), ranges: ranges)
            })
    }

    @Test func `a receipt is taken apart into what was signed, and holds in its room alone`() throws {
        let receipt = Receipt(signing: content(), in: Samples.lab, with: key)

        let taken = try Receipt(decoding: receipt.bytes)

        #expect(taken == receipt && taken.content == content() && taken.holder == key.peer)
        #expect(taken.holds(in: Samples.lab))
        #expect(!taken.holds(in: RoomID(openRoom: "other")))
    }

    @Test func `whatever bit is changed, it is no receipt or doesn't hold`() throws {
        let bytes = Receipt(signing: content(), in: Samples.lab, with: key).bytes
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1 << (place % 8)
            let receipt = try? Receipt(decoding: changed)
            #expect(receipt?.holds(in: Samples.lab) != true, "byte \(place)")
        }
        for end in [0, 1, 40, bytes.count - 1] {
            #expect(throws: WireError.self) { try Receipt(decoding: Array(bytes.prefix(end))) }
        }
        #expect(throws: WireError.trailingBytes(1)) { try Receipt(decoding: bytes + [0]) }
    }

    @Test func `the largest receipt fits a frame, and what is over that is left out`() throws {
        let receipt = Receipt(signing: content(entries: 200, links: 400), in: Samples.lab, with: key)

        #expect(receipt.bytes.count <= SessionMessage.limit(ofKind: SessionMessage.Kind.receipt.rawValue) ?? 0)
        #expect(receipt.content.entries.count == 48 && receipt.content.links.count == 255)
        #expect(try Receipt(decoding: receipt.bytes) == receipt)
    }

    @Test func `a direct log is named to its two ends alone, never in a receipt`() {
        var direct = content()
        direct.entries[0].log.audience = Samples.key(2).peer.key
        let receipt = Receipt(signing: direct, in: Samples.lab, with: key)

        #expect(throws: WireError.self) { try Receipt(decoding: receipt.bytes) }
    }
}

struct DeliveryBookTests {
    private let log = Samples.log(of: Samples.key(1))
    private let bob = Samples.key(2).peer
    private let carol = Samples.key(3).peer
    private let dave = Samples.key(4).peer

    @Test func `a message counts for those who were there when it was sent`() {
        var book = DeliveryBook()
        book.enroll([bob, carol], in: log, from: 1)
        book.enroll([bob], in: log, from: 5)
        book.hold([1...5], of: log, by: bob)
        book.hold([1...3], of: log, by: carol)
        book.hold([1...9], of: log, by: dave)

        #expect(book.count(of: 3, in: log) == DeliveryCount(stored: 2, members: 2))
        #expect(book.count(of: 4, in: log) == DeliveryCount(stored: 1, members: 2))
        #expect(book.count(of: 5, in: log) == DeliveryCount(stored: 1, members: 1))
        #expect(book.count(of: 6, in: log) == DeliveryCount(stored: 0, members: 1))
        #expect(book.count(of: 4, in: log) { $0 != carol } == DeliveryCount(stored: 1, members: 1))
        #expect(book.holders(of: 6, in: log) == [dave])
    }

    @Test func `what was sent to nobody counts those who came later, and others' messages count nobody`() {
        var book = DeliveryBook()
        book.enroll([], in: log, from: 1)
        #expect(book.count(of: 1, in: log) == DeliveryCount(stored: 0, members: 0))

        book.hold([1...1], of: log, by: dave)

        #expect(book.count(of: 1, in: log) == DeliveryCount(stored: 1, members: 1))
        #expect(book.count(of: 1, in: Samples.log(of: Samples.key(2))) == nil)
    }

    @Test func `a newer word takes the place of an older one, and may be less`() {
        var book = DeliveryBook()
        book.hold([1...5, 8...9], of: log, by: bob)
        #expect(book.holders(of: 8, in: log) == [bob] && book.holders(of: 7, in: log).isEmpty)

        book.hold([1...2], of: log, by: bob)
        #expect(book.holders(of: 8, in: log).isEmpty && book.holders(of: 2, in: log) == [bob])
        book.hold([], of: log, by: bob)
        #expect(book.holders(of: 2, in: log).isEmpty)
    }
}
