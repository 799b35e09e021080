import Testing

/// Gives all tests of a suite one lab, which is up before the first of them and down after the last.
struct SharedLab: SuiteTrait, TestScoping {
    @TaskLocal private static var current: Lab?

    /// The suite's lab, with all cables in.
    static func healed() async throws -> Lab {
        guard let lab = current else { throw LabFailure("the suite has no lab") }
        try await lab.heal()
        return lab
    }

    let count: Int
    let avahi: Lab.Avahi

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$current.withValue(try await Lab.up(count, avahi: avahi), operation: function)
    }
}

extension Trait where Self == SharedLab {
    static func sharedLab(_ count: Int, avahi: Lab.Avahi) -> Self { SharedLab(count: count, avahi: avahi) }
}
