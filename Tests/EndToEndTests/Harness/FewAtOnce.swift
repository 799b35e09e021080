import Foundation
import Glibc
import Testing

/// Runs no more tests at once than the machine has cores, of those marked with it.
///
/// Each of them starts programs and judges them by the clock.
struct FewAtOnce: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if test.isSuite { return try await function() }
        await Self.turns.take()
        do {
            try await function()
        } catch {
            await Self.turns.giveBack()
            throw error
        }
        await Self.turns.giveBack()
    }

    private static let turns = Turns(max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))))
}

extension Trait where Self == FewAtOnce {
    static var fewAtOnce: Self { FewAtOnce() }
}

private actor Turns {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

/// How long something may take that is promised within `limit` on a machine that has a core to spare.
///
/// Longer on a crowded one: by how many threads want to run now, or did in the last minute, for each core.
func promised(_ limit: Duration) -> Duration {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    let fields = text.split(separator: " ")
    guard fields.count > 3, let lately = Double(fields[0]) else { return limit }
    let now = fields[3].split(separator: "/").first.flatMap { Double($0) } ?? 0
    let crowd = max(lately, now) / Double(max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    return limit * min(20, max(1, crowd))
}
