/// A condition that did not come true in time.
struct TimedOut: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, within limit: Duration) { description = "not within \(limit): \(what)" }
}

/// Waits until `condition` holds, asking every 10 ms.
///
/// It is asked once more after the limit, so that a test whose thread was held up elsewhere doesn't fail for that.
///
/// - Returns: Whether it came to hold.
func eventually(
    within limit: Duration = .seconds(10), isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await condition() { return true }
        do { try await Task.sleep(for: .milliseconds(10)) } catch { break }
    }
    return try await condition()
}

/// Waits until `attempt` has a value, asking every 10 ms, and gives that.
///
/// - Parameter what: What is waited for, as ``TimedOut`` shall say it.
func first<Value>(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(10),
    isolation: isolated (any Actor)? = #isolation, _ attempt: () async throws -> Value?
) async throws -> Value {
    var found: Value?
    _ = try await eventually(within: limit) {
        found = try await attempt()
        return found != nil
    }
    guard let found else { throw TimedOut(what(), within: limit) }
    return found
}
