import Synchronization

/// How many subscriptions there are, to find those that nobody ends.
public enum Resources {
    private static let live = Atomic<Int>(0)

    /// Subscriptions and their parts that exist in this process.
    ///
    /// Counted in debug builds only, else 0: what is to be found are numbers that keep growing.
    public static var total: Int32 { Int32(clamping: live.load(ordering: .relaxed)) }

    /// Counts something of the caller's own.
    ///
    /// - Returns: The new total.
    @discardableResult public static func incrementTotal() -> Int32 {
        Int32(clamping: live.add(1, ordering: .relaxed).newValue)
    }

    /// Counts something of the caller's own no more.
    ///
    /// - Returns: The new total.
    @discardableResult public static func decrementTotal() -> Int32 {
        Int32(clamping: live.subtract(1, ordering: .relaxed).newValue)
    }
}
