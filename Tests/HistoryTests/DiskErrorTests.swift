import ChatModel
import Foundation
import Identity
import Testing

@testable import History

/// The n-th operation on the disk fails, for n from 1 until there is none left to fail.
///
/// Some n by default; each, with EXHAUSTIVE_DISK_ERRORS=1.
struct DiskErrorTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["EXHAUSTIVE_DISK_ERRORS"] != nil

    /// One run of a workload.
    private struct Run {
        let key = SigningKey()
        let scratch: Scratch
        let disk: WatchedDisk
        var kept = Kept()
        var errors: [String] = []
        var complaints: [String] = []
        /// After how many steps something was confirmed.
        var confirmations: [Int] = []

        init() throws {
            scratch = try Scratch(in: FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp")
            disk = try WatchedDisk()
        }

        private func openOnce(_ vfs: String?) throws -> (History, HistoryOpened) {
            try History.open(DatabaseFile(in: scratch.path, vfs: vfs), room: lab, key: key)
        }

        /// Opens it, a second time where the first fails.
        private mutating func open() throws -> History {
            var opening: (History, HistoryOpened)
            do { opening = try openOnce(disk.name) } catch {
                errors.append("\(error)")
                opening = try openOnce(disk.name)
            }
            if let notice = opening.1.notice { complaints.append(notice) }
            opening.0.on { $0.recovery.pause = .zero }
            return opening.0
        }

        mutating func carryOut(_ orders: [Order]) throws {
            var history = try open()
            for order in orders {
                if case .reopen = order {
                    history.on { $0.close() }
                    history = try open()
                    continue
                }
                do { kept.take(order, try history.obey(order)) } catch {
                    errors.append("\(error)")
                    kept.take(order, try history.obey(order))
                }
                confirmations.append(disk.position)
            }
            history.on { $0.close() }
        }

        /// What is wrong with what is there once it is opened again.
        mutating func complaintsAfterwards() throws -> [String] {
            let (history, opened) = try openOnce(nil)
            defer { history.on { $0.close() } }
            if let notice = opened.notice { complaints.append(notice) }
            if opened.isNewIncarnation { complaints.append("it is another incarnation") }
            return try complaints + history.on { try kept.complaints(about: $0) + kept.complaintsAboutLines(of: $0) }
        }
    }

    @Test(arguments: DiskFault.allCases, Workload.Theme.allCases)
    func `nothing is confirmed that isn't stored, and it goes on by itself`(
        fault: DiskFault, theme: Workload.Theme
    ) throws {
        var n = 1
        var failures = 0
        while true {
            var run = try Run()
            run.disk.fail(fault, at: n)
            let workload = Workload(24, of: [theme], reopenings: 8, seed: UInt64(n % 3))
            do { try run.carryOut(workload.orders) } catch {
                Issue.record("\(fault) \(n), \(theme): tried again it is still: \(error)")
                return
            }
            let steps = run.disk.steps
            let isFailed = run.disk.hasFailed
            var complaints = try run.complaintsAfterwards()
            if fault == .synchronization {
                complaints += try Self.complaintsAboutTrust(steps, run.confirmations)
                // What wasn't kept by the disk at the failure is gone with the power.
                var image = DiskImage()
                for step in steps { image.follow(step) }
                var dice = SplitMix64(seed: 1)
                try image.materialise(after: .power, in: run.scratch.path, &dice)
                complaints += try run.complaintsAfterwards()
            }
            if !complaints.isEmpty {
                Issue.record("\(fault) \(n), \(theme): \(complaints) after \(run.errors)")
                return
            }
            if !isFailed { break }
            failures += 1
            n += Self.isExhaustive ? 1 : 1 + n / 3
        }
        print("\(fault) while writing \(theme): \(failures) failures, the last of at most \(n - 1)")
        #expect(failures > 1)
    }

    /// After an fsync(2) that failed nothing may be confirmed before the database was opened anew.
    private static func complaintsAboutTrust(_ steps: [DiskStep], _ confirmations: [Int]) throws -> [String] {
        let failed = steps.firstIndex { if case .synchronize(_, isDone: false) = $0 { true } else { false } }
        guard let failed, let next = confirmations.first(where: { $0 > failed }) else { return [] }
        let isOpened = steps[failed..<next].contains {
            if case .open(let name) = $0 { name == "history.db" } else { false }
        }
        return isOpened ? [] : ["confirmed after a failed fsync without opening anew"]
    }
}
