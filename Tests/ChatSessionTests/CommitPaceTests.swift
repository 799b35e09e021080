import ResourceCounting
import Testing

@testable import ChatSession

@Suite(.countsResources) struct CommitPaceTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test func `a few commits follow one another at once`() {
        var pace = CommitPace()
        for number in 0..<10 as Range<UInt64> {
            #expect(pace.delay(now: number) == 0)
            pace.began(now: number)
        }
    }

    @Test func `above a hundred a second what comes waits, at most 5 ms, until 10 ms after the last`() {
        var pace = CommitPace()
        for number in 0..<10 as Range<UInt64> { pace.began(now: 1 + number * Self.millisecond) }
        let last = 1 + 9 * Self.millisecond

        #expect(pace.delay(now: last) == 5 * Self.millisecond)
        #expect(pace.delay(now: last + 5 * Self.millisecond) == 5 * Self.millisecond)
        #expect(pace.delay(now: last + 8 * Self.millisecond) == 2 * Self.millisecond)
        #expect(pace.delay(now: last + 10 * Self.millisecond) == 0)
        pace.began(now: last + 5 * Self.millisecond)
        #expect(pace.delay(now: last + 5 * Self.millisecond) == 5 * Self.millisecond)
        #expect(pace.delay(now: 102 * Self.millisecond) == 0)
    }

    @Test func `at exactly a hundred a second nothing waits`() {
        var pace = CommitPace()
        for number in 0..<50 as Range<UInt64> {
            #expect(pace.delay(now: number * 10 * Self.millisecond) == 0)
            pace.began(now: number * 10 * Self.millisecond)
        }
    }
}
