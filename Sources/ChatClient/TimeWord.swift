import Glibc

/// A time as a user types it, in the local time zone: `10:30`, `10:30:15`, `2026-11-30`, `2026-11-30T10:30`, `today`,
/// `yesterday`, `now`, and how long ago: `45s`, `30m`, `2h`, `3d`, `1w`.
///
/// A word names a stretch of time: a second, a minute or a day. A time of day alone is the last one that has begun.
struct TimeWord: Equatable {
    /// Both included; milliseconds since 1970.
    let first: Int
    let last: Int

    /// `nil` for what is no time; `now` is in milliseconds since 1970.
    init?(_ word: String, now: Int) {
        guard let found = Self.named(word, now) ?? Self.ago(word, now) ?? Self.dated(word) ?? Self.ofDay(word, now)
        else { return nil }
        self = found
    }

    private init(_ start: Int, lasting length: Int) {
        first = max(start, 0)
        last = max(start + length - 1, 0)
    }

    private static let second = 1_000
    private static let minute = 60 * second
    private static let hour = 60 * minute
    private static let day = 24 * hour

    private static func named(_ word: String, _ now: Int) -> TimeWord? {
        switch word {
        case "now": TimeWord(now, lasting: 1)
        case "today": wholeDay(fields(now))
        case "yesterday": wholeDay(fields(now), plus: -1)
        default: nil
        }
    }

    private static func ago(_ word: String, _ now: Int) -> TimeWord? {
        let units: [Character: Int] = ["s": second, "m": minute, "h": hour, "d": day, "w": 7 * day]
        guard let unit = word.last.flatMap({ units[$0] }), let count = number(word.dropLast(), 1...9),
            count <= 1_000_000
        else { return nil }
        return TimeWord(now - count * unit, lasting: 1)
    }

    /// `2026-11-30`, and a time of that day behind `T` or a space.
    private static func dated(_ word: String) -> TimeWord? {
        let parts = word.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, let year = number(date[0], 4...4), let month = number(date[1], 1...2),
            let day = number(date[2], 1...2)
        else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (CInt(year - 1900), CInt(month - 1), CInt(day))
        guard (1...12).contains(month), let midnight = wholeDay(fields),
            Self.fields(midnight.first).tm_mday == CInt(day)
        else { return nil }
        return parts.count == 1 ? midnight : clock(parts[1]).flatMap { at($0, of: fields) }
    }

    private static func ofDay(_ word: String, _ now: Int) -> TimeWord? {
        guard let clock = clock(Substring(word)), let found = at(clock, of: fields(now)) else { return nil }
        if found.first <= now { return found }
        var yesterday = fields(now)
        yesterday.tm_mday -= 1
        return at(clock, of: yesterday)
    }

    // MARK: Parts

    private static func number(_ digits: Substring, _ lengths: ClosedRange<Int>) -> Int? {
        digits.allSatisfy { $0.isASCII && $0.isNumber } && lengths.contains(digits.count) ? Int(digits) : nil
    }

    /// `10:30` or `10:30:15`.
    private static func clock(_ word: Substring) -> (hour: Int, minute: Int, second: Int?)? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = number(parts[0], 1...2), hour < 24,
            let minute = number(parts[1], 2...2), minute < 60
        else { return nil }
        if parts.count == 2 { return (hour, minute, nil) }
        guard let second = number(parts[2], 2...2), second < 60 else { return nil }
        return (hour, minute, second)
    }

    private static func at(_ clock: (hour: Int, minute: Int, second: Int?), of day: tm) -> TimeWord? {
        var fields = day
        (fields.tm_hour, fields.tm_min) = (CInt(clock.hour), CInt(clock.minute))
        fields.tm_sec = CInt(clock.second ?? 0)
        return time(fields).map { TimeWord($0, lasting: clock.second == nil ? minute : second) }
    }

    /// A day may have 23 or 25 hours.
    private static func wholeDay(_ fields: tm, plus days: Int = 0) -> TimeWord? {
        var start = fields
        (start.tm_hour, start.tm_min, start.tm_sec) = (0, 0, 0)
        start.tm_mday += CInt(days)
        var end = start
        end.tm_mday += 1
        guard let first = time(start), let last = time(end) else { return nil }
        return TimeWord(first, lasting: last - first)
    }

    private static func time(_ fields: tm) -> Int? {
        var fields = fields
        fields.tm_isdst = -1
        let seconds = mktime(&fields)
        return seconds == -1 ? nil : Int(seconds) * second
    }

    private static func fields(_ milliseconds: Int) -> tm {
        var seconds = time_t(milliseconds / second)
        var fields = tm()
        localtime_r(&seconds, &fields)
        return fields
    }
}
