import ChatModel
import Identity

/// Neighbouring events of one batch that stand in the transcript's order: a row of the table run.
///
/// An honest author's clock only goes forward, so that most batches are one run, and no two runs of a log overlap. Where a
/// clock goes back, each event is a run of its own. So a place in the order is found without looking at more than one
/// longer run of each log, whatever an author does.
struct OrderedRun: Equatable {
    /// Runs of one level reach over at most so many milliseconds, and over more than those of the level before.
    static let spans: [UInt64] = [0, 1_000, 60_000, 3_600_000, 86_400_000]

    var places: Range<Int>
    /// Where its first event stands by its clock, and its last one.
    var start: HybridTime
    var end: StoredLine.Position

    /// Index into ``spans``.
    var level: Int {
        let span = end.clock.milliseconds - start.milliseconds
        if start == end.clock { return 0 }
        return Self.spans.indices.dropFirst().first { span <= Self.spans[$0] } ?? Self.spans.count - 1
    }

    fileprivate init(_ stored: StoredBatch, _ place: Int) {
        places = place..<place + 1
        end = stored.position(at: place)
        start = end.clock
    }

    /// Takes the next event, unless it stands before the others or too far behind them.
    fileprivate mutating func join(_ next: OrderedRun) -> Bool {
        guard next.start >= end.clock, next.places.lowerBound == places.upperBound,
            next.start.milliseconds - start.milliseconds <= Self.spans[Self.spans.count - 1]
        else { return false }
        places = places.lowerBound..<next.places.upperBound
        end = next.end
        return true
    }
}

extension StoredBatch {
    /// The runs of the events that came with it and are shown.
    ///
    /// - Parameters:
    ///   - latest: The latest clock of the log's events before.
    ///   - earliest: The earliest clock of the log's events behind.
    /// - Returns: In the order of their places.
    func runs(between latest: HybridTime, and earliest: HybridTime) -> [OrderedRun] {
        var latest = latest
        var runs: [OrderedRun] = []
        var isOpen = false
        for place in places where batch.events[place].kind.isShown {
            let next = OrderedRun(self, place)
            if isOpen, next.start <= earliest, runs[runs.count - 1].join(next) {
                latest = next.start
                continue
            }
            runs.append(next)
            isOpen = next.start >= latest
            latest = max(latest, next.start)
        }
        return runs
    }
}
