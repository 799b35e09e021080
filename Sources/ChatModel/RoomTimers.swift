import Identity

/// What the room is waiting for.
enum RoomTimer: Hashable {
    case dial(PeerID)
    case dialPlace(Int)
    case dialSighting(String)
    case grace(PeerID)
    case waiting(PeerID)
    case want(LogID)
    case wantTimeout(LogID, PeerID)
    case proof(LogID)
    case flushHave
    case flushSlowHave
    case release
    case receipt
    case passReceipts
    case fetchTimeout(BlobRoot)
}

/// When things are due.
///
/// The earliest alone is asked of the clock.
struct RoomTimers {
    private var due: [RoomTimer: (time: UInt64, order: UInt64)] = [:]
    private var lastOrder: UInt64 = 0
    private var armed: UInt64?

    /// - Returns: When to wake, if that is earlier than was asked for.
    mutating func set(_ timer: RoomTimer, at time: UInt64) -> UInt64? {
        lastOrder += 1
        due[timer] = (time, lastOrder)
        if let armed, armed <= time { return nil }
        armed = time
        return time
    }

    mutating func cancel(_ timer: RoomTimer) { due[timer] = nil }

    func isSet(_ timer: RoomTimer) -> Bool { due[timer] != nil }

    /// Takes out what is due, earliest first, and of one time what was set first.
    mutating func take(until now: UInt64) -> [RoomTimer] {
        let ripe = due.filter { $0.value.time <= now }
        for timer in ripe.keys { due[timer] = nil }
        armed = nil
        return ripe.sorted { $0.value < $1.value }.map(\.key)
    }

    /// - Returns: When to wake next, unless ``set(_:at:)`` has asked for that since ``take(until:)``.
    mutating func rearm() -> UInt64? {
        guard let next = due.values.map(\.time).min(), armed.map({ next < $0 }) != false else { return nil }
        armed = next
        return next
    }
}
