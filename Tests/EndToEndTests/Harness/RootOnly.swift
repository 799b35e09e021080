import Foundation
import Glibc
import Locking
import Testing

/// Marks what needs root: tests in a lab.
///
/// Without root it is skipped, printed and counted. With REQUIRE_ROOT_TESTS=1 nothing is skipped: the test runs, and
/// fails at the first thing that needs root.
struct RootOnly: TestTrait, SuiteTrait {
    let isRecursive = true

    func prepare(for test: Test) async throws {
        if geteuid() == 0 || ProcessInfo.processInfo.environment["REQUIRE_ROOT_TESTS"] == "1" { return }
        if !test.isSuite {
            let count = Self.skipped.withLock {
                $0 += 1
                return $0
            }
            print("skipped for want of root, \(count) so far: \(test.displayName ?? test.name)")
        }
        // What this throws the test runner takes for a skip, and not for a failure.
        try await ConditionTrait.disabled("needs root").prepare(for: test)
    }

    private static let skipped = Locked(0)
}

extension Trait where Self == RootOnly {
    static var rootOnly: Self { RootOnly() }
}
