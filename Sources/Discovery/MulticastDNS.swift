/// One way to announce a peer and to browse its room.
///
/// No call blocks, and none is made back but through the closure that the maker was given, from any thread.
protocol MulticastDNS: AnyObject, Sendable {
    /// What the log calls it.
    var name: String { get }
    /// Whether a call into it has been waiting for an answer for longer than is normal.
    var isStuck: Bool { get }

    func start()
    /// Announces something else in place of what it has announced.
    func announce(_ announcement: Announcement)
    func resolve(_ record: RecordKey)
    func stopResolving(_ record: RecordKey)
    /// Asks whether the advert is still out, and puts it out again if it isn't.
    func check()
    /// Withdraws the advert and ends everything.
    ///
    /// - Parameter done: Called once that is over, which may be long after.
    func stop(_ done: @escaping @Sendable () -> Void)
}

/// What a stack tells.
enum StackEvent: Sendable, Equatable {
    /// It is there, and will announce us.
    case answered
    /// It isn't there, and is waited for.
    case absent(String)
    /// It was there and is no more.
    case wentAway(String)
    /// The advert is out.
    case announced
    /// Browsing starts from nothing: the records told before are void.
    case browsing
    case appeared(RecordKey)
    case vanished(RecordKey)
    case resolved(RecordKey, Resolution)
    case unresolved(RecordKey)
    /// More instances show than can be true: the cache may be full of forged ones.
    case crowded
}

typealias StackReport = @Sendable (StackEvent) -> Void
