import ChatModel
import Identity
import Testing

@testable import History

struct UnindexedLinesTests {
    private static let author = SigningKey()

    /// One row of `count` texts.
    private static func lines(row: Int64, _ count: Int = 2) -> [UnindexedLines.Line] {
        let events = (0..<count).map { index in
            BatchEvent(
                kind: .text, nonce: Nonce(UInt128(index)), clock: HybridTime(milliseconds: 1), wallTime: 1, body: [0])
        }
        let batch = Batch(
            sealing: events, in: LogID(author: author.peer, incarnation: Incarnation(1)),
            of: RoomID(openRoom: "lab"), first: 1, previous: .none, with: author)
        let stored = StoredBatch(row: row, fresh: 1, arrived: 1, batch: batch)
        return stored.places.map { UnindexedLines.Line(stored, $0) }
    }

    private static func rows(_ lines: ArraySlice<UnindexedLines.Line>?) -> [Int64]? { lines?.map(\.row) }

    @Test func `rows that follow one another are kept until they are forgotten`() {
        var unindexed = UnindexedLines()
        unindexed.add(Self.lines(row: 8), ofRowsAfter: 7, upTo: 8)
        unindexed.add(Self.lines(row: 9) + Self.lines(row: 10), ofRowsAfter: 8, upTo: 10)

        #expect(Self.rows(unindexed.lines(ofRowsAfter: 7, upTo: 9)) == [8, 8, 9, 9])
        #expect(Self.rows(unindexed.lines(ofRowsAfter: 8, upTo: 10)) == [9, 9, 10, 10])
        #expect(unindexed.lines(ofRowsAfter: 6, upTo: 9) == nil)
        #expect(unindexed.lines(ofRowsAfter: 7, upTo: 11) == nil)
        unindexed.forget(upTo: 9)
        #expect(unindexed.lines(ofRowsAfter: 7, upTo: 10) == nil)
        #expect(Self.rows(unindexed.lines(ofRowsAfter: 9, upTo: 10)) == [10, 10])
    }

    @Test func `behind a row that it wasn't told of, what came before is not known`() {
        var unindexed = UnindexedLines()
        unindexed.add(Self.lines(row: 1), ofRowsAfter: 0, upTo: 1)
        unindexed.add(Self.lines(row: 3), ofRowsAfter: 2, upTo: 3)

        #expect(unindexed.lines(ofRowsAfter: 0, upTo: 3) == nil)
        #expect(Self.rows(unindexed.lines(ofRowsAfter: 2, upTo: 3)) == [3, 3])
    }
}
