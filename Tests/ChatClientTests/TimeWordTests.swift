import Glibc
import Testing

@testable import ChatClient

struct TimeWordTests {
    /// 2026-11-30 12:00:00 by the local clock, in milliseconds.
    private let noon = local(2026, 11, 30, 12, 0, 0)

    private static func local(
        _ year: CInt, _ month: CInt, _ day: CInt, _ hour: CInt, _ minute: CInt, _ second: CInt
    ) -> Int {
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, month - 1, day)
        (fields.tm_hour, fields.tm_min, fields.tm_sec, fields.tm_isdst) = (hour, minute, second, -1)
        return Int(mktime(&fields)) * 1000
    }

    private func expect(_ word: String, _ first: Int, _ length: Int, _ place: SourceLocation = #_sourceLocation) {
        let time = TimeWord(word, now: noon)
        #expect(time?.first == first, sourceLocation: place)
        #expect(time?.last == first + length - 1, sourceLocation: place)
    }

    @Test func `a date is its day, a minute its minute, a second its second`() {
        expect("2026-11-29", Self.local(2026, 11, 29, 0, 0, 0), 86_400_000)
        expect("2026-11-29T10:30", Self.local(2026, 11, 29, 10, 30, 0), 60_000)
        expect("2026-11-29 10:30", Self.local(2026, 11, 29, 10, 30, 0), 60_000)
        expect("2026-11-29T10:30:07", Self.local(2026, 11, 29, 10, 30, 7), 1_000)
    }

    @Test func `a time of day is the last one that has begun`() {
        expect("10:30", Self.local(2026, 11, 30, 10, 30, 0), 60_000)
        expect("9:05", Self.local(2026, 11, 30, 9, 5, 0), 60_000)
        expect("12:00", noon, 60_000)
        expect("12:01", Self.local(2026, 11, 29, 12, 1, 0), 60_000)
        expect("23:59:58", Self.local(2026, 11, 29, 23, 59, 58), 1_000)
    }

    @Test func `words and spans count from now`() {
        expect("now", noon, 1)
        expect("today", Self.local(2026, 11, 30, 0, 0, 0), 86_400_000)
        expect("yesterday", Self.local(2026, 11, 29, 0, 0, 0), 86_400_000)
        expect("45s", noon - 45_000, 1)
        expect("30m", noon - 1_800_000, 1)
        expect("2h", noon - 7_200_000, 1)
        expect("3d", noon - 3 * 86_400_000, 1)
        expect("1w", noon - 7 * 86_400_000, 1)
    }

    @Test(arguments: [
        "", "soon", "h", "-2h", "2 h", "2y", "99999999999h", "24:00", "10:60", "10:3", "1:2:3:4", "10:30:60", "1030",
        "2026-02-30", "2026-13-01", "26-11-30", "2026-11-30T", "2026-11-30T25:00", "2026-11-30Tnow", "٣h", "1e3s",
    ])
    func `what is no time is refused`(word: String) {
        #expect(TimeWord(word, now: noon) == nil)
    }
}
