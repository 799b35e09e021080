import ChatModel
import Foundation
import Identity
import Testing

@testable import History

/// A directory that vanishes with the test.
final class Scratch: Sendable {
    let path: String

    init(in parent: String = NSTemporaryDirectory()) throws {
        path = "\(parent)/history-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return try #require(attributes[.posixPermissions] as? Int)
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

let lab = RoomID(openRoom: "lab")

extension History {
    func on<Result>(_ body: (History) throws -> Result) rethrows -> Result { try queue.sync { try body(self) } }

    func texts(last count: Int = .max) throws -> [String] { try on { try $0.lines(last: count) }.map(\.said) }

    func append(_ drafts: BatchEvent...) throws -> [AppendResult] { try on { try $0.append(drafts).results } }
    func store(_ batches: Batch...) throws -> [StoreResult] { try on { try $0.store(batches) } }
}

extension StoredLine {
    var said: String {
        guard case (_, .text(let text))? = try? EventBody.decode(kind, body) else { return "?" }
        return text
    }
}

/// Somebody who writes a log.
struct Author {
    let key = SigningKey()
    var log: LogID
    var head = LogHead(last: 0, lastID: .none)

    init(incarnation: UInt128 = 1) { log = LogID(author: key.peer, incarnation: Incarnation(incarnation)) }

    /// Seals the author's next events.
    mutating func seal(_ events: [BatchEvent]) -> Batch {
        let batch = Batch(
            sealing: events, in: log, of: lab, first: head.last + 1, previous: head.lastID, with: key)
        head = LogHead(last: batch.last, lastID: batch.lastID)
        return batch
    }

    mutating func say(_ texts: String..., at clock: UInt64 = 1_000) -> Batch {
        seal(texts.map { text($0, at: clock) })
    }

    /// Seals events again that follow `before` others, as somebody who joins stored batches does.
    func join(_ batches: [Batch], from first: Int = 0) -> Batch {
        let all = batches.flatMap(\.events)
        let ids = batches.flatMap(\.ids)
        return Batch(
            sealing: Array(all[first...]), in: log, of: lab, first: batches[0].first + UInt64(first),
            previous: first == 0 ? batches[0].previous : ids[first - 1], with: key)
    }
}

func text(_ text: String, at clock: UInt64 = 1_000, nonce: UInt128 = .random(in: .min ... .max)) -> BatchEvent {
    BatchEvent(
        kind: .text, nonce: Nonce(nonce), clock: HybridTime(milliseconds: clock), wallTime: clock,
        body: EventBody.text(text).encoded(authorName: "alice"))
}

func image(_ name: String, at clock: UInt64 = 1_000) -> BatchEvent {
    let info = ImageInfo(
        name: name, mediaType: "image/png", size: 0, width: 0, height: 0, root: BlobRoot(size: 0, chunkHashes: []))
    return BatchEvent(
        kind: .image, nonce: Nonce(.random(in: .min ... .max)), clock: HybridTime(milliseconds: clock), wallTime: clock,
        body: EventBody.image(info).encoded(authorName: "alice"))
}

extension AppendResult {
    var id: EventID? {
        switch self {
        case .appended(let id, _), .repeated(let id): id
        case .nonceTaken: nil
        }
    }
}

extension StoreResult {
    /// The numbers that were new; `nil` if it wasn't stored.
    var new: [ClosedRange<UInt64>]? { if case .stored(let news) = self { news.map(\.numbers) } else { nil } }
}

/// Whether tests that need root run; where they must, a skip is a failure.
func isRoot() -> Bool {
    if geteuid() == 0 { return true }
    if ProcessInfo.processInfo.environment["REQUIRE_ROOT_TESTS"] == "1" {
        Issue.record("this test needs root, and REQUIRE_ROOT_TESTS is set")
    } else {
        print("skipped: needs root")
    }
    return false
}
