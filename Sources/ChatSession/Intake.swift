import ChatModel
import Identity
import Locking

/// What has come from each peer and isn't dealt with yet, so that one who floods is read no further.
///
/// Counted from the transport's event until the room has taken it, and what goes on to the disk until it is there.
final class Intake: Sendable {
    struct Load: Hashable, Sendable {
        /// In bytes, as they weigh in memory.
        var bytes = 0
        var isPaused = false
    }

    /// In bytes for each peer: above the first it is read no further, below the second it is again.
    private static let high = 2 << 20
    private static let low = 1 << 20

    private let loads = Locked<[PeerID: Load]>([:])
    private let pause: @Sendable (PeerID, Bool) -> Void

    /// - Parameter pause: Stops reading a peer, or goes on with it; called from any thread, without a lock.
    init(pause: @escaping @Sendable (PeerID, Bool) -> Void) { self.pause = pause }

    func load(of peer: PeerID) -> Load { loads.withLock { $0[peer] ?? Load() } }

    func came(_ message: SessionMessage, from peer: PeerID) {
        let isTooMuch = loads.withLock { loads in
            loads[peer, default: Load()].bytes += message.weight
            guard let load = loads[peer], load.bytes > Self.high, !load.isPaused else { return false }
            loads[peer]?.isPaused = true
            return true
        }
        if isTooMuch { pause(peer, true) }
    }

    /// The room has taken a message; what the disk is to have isn't done with.
    func reduced(_ event: RoomEvent, _ effects: [RoomEffect]) {
        guard case .message(let peer, let message) = event else { return }
        let goesOn = effects.contains { effect in
            switch (message, effect) {
            case (.batch, .store), (.blobData, .writePiece), (.hints, .verify): true
            default: false
            }
        }
        if !goesOn { done(message, from: peer) }
    }

    func done(_ message: SessionMessage, from peer: PeerID) {
        let isLittle = loads.withLock { loads in
            guard var load = loads[peer] else { return false }
            load.bytes -= message.weight
            let isLittle = load.isPaused && load.bytes <= Self.low
            if isLittle { load.isPaused = false }
            loads[peer] = load.bytes > 0 ? load : nil
            return isLittle
        }
        if isLittle { pause(peer, false) }
    }
}

extension SessionMessage {
    /// What it takes in memory while it waits, in bytes, roughly; more where it is the work that counts.
    fileprivate var weight: Int {
        let least = 2_048
        return switch self {
        case .batch(let bytes): bytes.count + least
        case .blobData(let data): data.bytes.count + least
        case .blobHashes(let page): page.hashes.count * 32 + least
        case .receipt(let receipt): receipt.bytes.count + least
        case .verified(let answer): answer.entries.count * 256 + least
        case .hints: SessionMessage.controlLimit
        case .have(let have): have.entries.count * 256 + least
        default: least
        }
    }
}
