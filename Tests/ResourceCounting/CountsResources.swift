import Foundation
import Rx
public import Testing

/// Each test of a suite leaves as many subscriptions as it found.
///
/// Checked where RX_COUNT_RESOURCES is set and tests run one at a time (`make test`): the count is the process's.
public struct CountsResources: SuiteTrait, TestTrait, TestScoping {
    private static let isCounting = ProcessInfo.processInfo.environment["RX_COUNT_RESOURCES"] != nil
    private static let patience = 10.0  // seconds for other threads to let go

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Self.isCounting, testCase != nil else { return try await function() }
        let before = Resources.total
        try await function()
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while Resources.total != before, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(Resources.total == before, "subscriptions that nobody ended")
    }
}

extension Trait where Self == CountsResources {
    public static var countsResources: Self { Self() }
}
