import Dispatch
import History

/// Reads the history anew for those who ask what is on the disk, a slice at a time: storing goes on in between.
///
/// `@unchecked`: `row` and `next` are only touched on `queue`.
final class Audit: @unchecked Sendable {
    private static let slice = 256  // rows; a few milliseconds
    private static let pause = 60_000  // milliseconds, at least, until peers are told by reading all of it again

    private let history: History
    private let queue = DispatchQueue(label: "chat.session.audit")
    /// Up to where it has been read.
    private var row: Int64 = 0
    private var next = DispatchTime.now()

    init(_ history: History) { self.history = history }

    /// Reads all that is there; with `isBrief` only what came since the last time, unless that was long ago: who asks
    /// again and again keeps the disk busy for a small part of the time.
    ///
    /// Waits for the end. Not to be called on the history's queue.
    ///
    /// - Throws: `HistoryError`.
    func run(isBrief: Bool = false) throws {
        try queue.sync {
            let start = DispatchTime.now()
            let isWhole = !isBrief || start >= next
            if isWhole { row = 0 }
            while let last = try history.queue.sync(execute: { try history.audit(after: row, atMost: Self.slice) }) {
                row = last
            }
            let taken = Int(clamping: (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000)
            if isWhole { next = .now() + .milliseconds(max(Self.pause, 20 * taken)) }
        }
    }
}
