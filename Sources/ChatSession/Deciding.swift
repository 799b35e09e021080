public import ChatModel
public import Identity
public import Rx
import Transport

/// What a peer costs this host at the moment.
public struct PeerLoad: Hashable, Sendable {
    /// Bytes that wait to be sent to it, over both of its links.
    public var queued: Int
    /// Bytes that have come from it and aren't dealt with yet.
    public var inHand: Int
    /// Whether it is read no further until that is less.
    public var isPaused: Bool
}

extension SessionContainer {
    /// What a peer costs now; any thread.
    public func load(of peer: PeerID) -> PeerLoad {
        let transport = parts.transport
        let load = parts.intake.load(of: peer)
        return PeerLoad(
            queued: transport.queuedBytes(to: peer, over: .chat) + transport.queuedBytes(to: peer, over: .blob),
            inHand: load.bytes, isPaused: load.isPaused)
    }

    /// Carries out what the user decides about a peer.
    ///
    /// - Returns: A cold sequence: subscribing decides. It completes without an element once that is on disk, and fails
    ///   with `AppendFailure` when it can't be kept: then it holds for this run alone.
    public func decide(_ peer: PeerID, _ decision: PeerDecision) -> Observable<Never> {
        .create { [replies, commands] observer in
            let id = replies.expect { reply in
                switch reply {
                case .done, .stored: observer.onCompleted()
                case .failed(let failure): observer.onError(failure)
                }
            }
            commands.onNext(.decide(peer, decision, id))
            return Disposables.create()
        }
    }
}
