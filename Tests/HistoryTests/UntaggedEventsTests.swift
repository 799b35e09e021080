import ChatModel
import Identity
import Testing

@testable import History

struct UntaggedEventsTests {
    private static let author = SigningKey()

    /// One row of `count` texts.
    private static func entries(row: Int64, _ count: Int = 2) -> [UntaggedEvents.Entry] {
        let events = (0..<count).map { index in
            BatchEvent(
                kind: .text, nonce: Nonce(UInt128(index)), clock: HybridTime(milliseconds: 1), wallTime: 1, body: [0])
        }
        let batch = Batch(
            sealing: events, in: LogID(author: author.peer, incarnation: Incarnation(1)),
            of: RoomID(openRoom: "lab"), first: 1, previous: .none, with: author)
        return StoredBatch(row: row, numbers: batch.numbers, arrived: 1, batch: batch).entries
    }

    private static func rows(_ entries: ArraySlice<UntaggedEvents.Entry>?) -> [Int64]? { entries?.map(\.row) }

    @Test func `rows that follow one another are kept until they are forgotten`() {
        var untagged = UntaggedEvents()
        untagged.add(Self.entries(row: 8), ofRowsAfter: 7, upTo: 8)
        untagged.add(Self.entries(row: 9) + Self.entries(row: 10), ofRowsAfter: 8, upTo: 10)

        #expect(Self.rows(untagged.entries(ofRowsAfter: 7, upTo: 9)) == [8, 8, 9, 9])
        #expect(Self.rows(untagged.entries(ofRowsAfter: 8, upTo: 10)) == [9, 9, 10, 10])
        #expect(untagged.entries(ofRowsAfter: 6, upTo: 9) == nil)
        #expect(untagged.entries(ofRowsAfter: 7, upTo: 11) == nil)
        untagged.forget(upTo: 9)
        #expect(untagged.entries(ofRowsAfter: 7, upTo: 10) == nil)
        #expect(Self.rows(untagged.entries(ofRowsAfter: 9, upTo: 10)) == [10, 10])
    }

    @Test func `behind a row that it wasn't told of, what came before is not known`() {
        var untagged = UntaggedEvents()
        untagged.add(Self.entries(row: 1), ofRowsAfter: 0, upTo: 1)
        untagged.add(Self.entries(row: 3), ofRowsAfter: 2, upTo: 3)

        #expect(untagged.entries(ofRowsAfter: 0, upTo: 3) == nil)
        #expect(Self.rows(untagged.entries(ofRowsAfter: 2, upTo: 3)) == [3, 3])
    }
}
