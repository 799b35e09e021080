import ChatModel
import Foundation
import Identity
import Testing

@testable import History

/// Power cuts at every operation on the disk.
///
/// Some of them by default; all, in all ways, with EXHAUSTIVE_CRASHES=1.
struct CrashTests {
    /// An order that was carried out while steps `start` to `end` were done.
    private struct Done {
        var order: Order
        var start: Int
        var end: Int
        var stored: [Batch]
    }

    /// What was on the disk, and how many orders weren't carried out: a power cut leaves the same, and it is judged
    /// alike, as long as neither changes.
    private struct Moment: Equatable {
        var kept: Int
        var unfinished: Int
    }

    private let key = SigningKey()
    private let scratch: Scratch
    private let isExhaustive = ProcessInfo.processInfo.environment["EXHAUSTIVE_CRASHES"] != nil

    init() throws {
        scratch = try Scratch(in: FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp")
    }

    private func open(_ disk: WatchedDisk? = nil) throws -> (History, HistoryOpened) {
        try History.open(DatabaseFile(in: scratch.path, vfs: disk?.name), room: lab, key: key)
    }

    /// Carries out 500 orders.
    ///
    /// - Returns: What was done to the disk, and what the orders came to; the first one is the opening.
    private func record() throws -> (steps: [DiskStep], done: [Done]) {
        let disk = try WatchedDisk()
        var (history, _) = try open(disk)
        var done = [Done(order: .reopen, start: 0, end: disk.position, stored: [])]
        for order in Workload(500, reopenings: 120, seed: 7).orders {
            let start = disk.position
            var stored: [Batch] = []
            if case .reopen = order {
                history.on { $0.close() }
                (history, _) = try open(disk)
            } else {
                stored = try history.obey(order)
            }
            done.append(Done(order: order, start: start, end: disk.position, stored: stored))
        }
        history.on { $0.close() }
        return (disk.steps, done)
    }

    @Test func `whatever a crash leaves, nothing confirmed is lost and nothing comes twice`() throws {
        let (steps, done) = try record()
        var image = DiskImage()
        var dice = SplitMix64(seed: 1)
        var kept = Kept()
        var rest = done[...]
        var count = 0
        var skipped = 0
        var lastCut: Moment?
        for (index, step) in steps.enumerated() {
            image.follow(step)
            while let first = rest.first, first.end <= index + 1 {
                kept.take(first.order, first.stored)
                rest = rest.dropFirst()
            }
            // All of the beginning, and a sample of what follows.
            let isChosen = isExhaustive || (index < 40 ? index % 2 == 0 : Int.random(in: 0..<60, using: &dice) == 0)
            if !isChosen { continue }
            let crashes = isExhaustive ? Crash.allCases : Crash.allCases.randomElement(using: &dice).map { [$0] } ?? []
            for crash in crashes {
                let moment = Moment(kept: image.keptVersion, unfinished: rest.count)
                if isExhaustive, crash == .power ? moment == lastCut : image.isSettled {
                    skipped += 1
                    continue
                }
                if crash == .power { lastCut = moment }
                try image.materialise(after: crash, in: scratch.path, &dice)
                let isOpen = done[0].end <= index + 1
                let complaints = try complaints(kept, rest.first, isOpen: isOpen, count)
                if !complaints.isEmpty {
                    let last = steps[max(0, index - 20)...index].map(\.summary).joined(separator: ", ")
                    Issue.record("\(crash) after step \(index) of \(steps.count): \(complaints); \(last)")
                    return
                }
                count += 1
            }
        }
        let all = steps.count * Crash.allCases.count
        print("crash states: \(count) of \(all), \(skipped) more are the same; \(steps.count) steps, 500 orders")
        #expect(isExhaustive ? count + skipped == all : count >= 60)
        #expect(rest.isEmpty)
    }

    /// What is wrong with the files as they are, when `next` was under way.
    private func complaints(_ kept: Kept, _ next: Done?, isOpen: Bool, _ count: Int) throws -> [String] {
        let (history, opened) = try open()
        defer { history.on { $0.close() } }
        var after = kept
        if let next { after.take(next.order, next.stored) }
        return try history.on { history in
            var complaints = opened.notice.map { [$0] } ?? []
            if isOpen, opened.isNewIncarnation { complaints.append("it is another incarnation") }
            complaints += try kept.complaints(about: history, or: after)
            // The client whose request was under way asks again, and goes on.
            let head = history.logs[history.ownLog]?.ranges.last ?? 0
            let wasThere = next?.stored.last.map { history.logs[$0.log]?.ranges.lastID == $0.lastID } ?? false
            if case .append(let drafts)? = next?.order {
                let results = try history.append(drafts).results
                let isRepeated = results.allSatisfy { if case .repeated = $0 { true } else { false } }
                if isRepeated != wasThere { complaints.append("asked again: \(results)") }
                let expected = head + (wasThere ? 0 : UInt64(drafts.count))
                if history.logs[history.ownLog]?.ranges.last != expected { complaints.append("numbers") }
            } else if let next {
                _ = try? history.append([text("again")])
                if history.logs[history.ownLog]?.ranges.last != head + 1 {
                    complaints.append("numbers of \(next.order)")
                }
            }
            if count % 50 == 0 { complaints += try kept.complaintsAboutLines(of: history) }
            return complaints
        }
    }
}
