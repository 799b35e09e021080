public import Addressing
public import Identity

/// What ``Transport`` tells.
public enum TransportEvent: Sendable, Equatable {
    /// A peer is there on a chat link, or another link takes the place of the one that was written on: what is
    /// unanswered is to be asked again.
    ///
    /// When the link is new its greeting follows as the next ``frame(_:_:_:)``. `endpoint` is the peer's end of the link;
    /// it can be dialled again only if we dialled it.
    case linkUp(PeerID, endpoint: Endpoint, isDialler: Bool)
    /// A frame of kind 16 or more, in order for each link.
    ///
    /// A chat link's greeting is its first; it comes again with every further link, also one that is let go of at once.
    case frame(PeerID, LinkPurpose, Frame)
    /// Nothing has come from a peer for ``TransportLimits/silentAfter``; again each second until something does, or the
    /// link is down. Time to dial anew, with `replacingSilent`.
    case silent(PeerID)
    /// The last chat link with a peer is gone. Its blob link goes with it.
    case linkDown(PeerID, LinkEnd)
    /// The last blob link with a peer is gone, or couldn't be opened: frames queued for it are lost.
    case blobLinkDown(PeerID)
    /// How a dial ended; every dial ends once.
    case dialled(DialID, DialResult)
    /// A second process uses this PeerID: ours, or that of a linked peer.
    case clone(PeerID, Endpoint)
    /// A connection from there was closed before it became a link; why. For the log; one a minute for each cause and
    /// address.
    case refused(Endpoint, String)
}

/// How the last link with a peer ended.
public enum LinkEnd: Sendable, Equatable {
    /// It said that it leaves the room.
    case left
    /// End of stream or reset, without a word.
    case closed
    /// Nothing came for ``TransportLimits/deadAfter``.
    case silent
    /// It broke a rule; which, for the log.
    case violated(String)
}

/// Names one call of ``Transport/dial(_:expecting:replacingSilent:)``.
public struct DialID: Hashable, Sendable {
    let number: UInt64
}

/// How a dial ended.
public enum DialResult: Sendable, Equatable {
    case linked(PeerID)
    /// Why, for the log. `refused`: nobody listens there, so the peer's process is gone; false whenever that is not sure.
    case failed(String, refused: Bool)
}
