import Identity

/// The first bytes of a connection: who is there, and in which room.
///
/// Pure: bytes in, a step out. Both sides send the same 83 bytes, the dialler first, the acceptor only once it has
/// checked the dialler's:
///
/// | bytes | what |
/// | --- | --- |
/// | 19 | `groupchat-plain-v1` and a NUL |
/// | 32 | RoomID |
/// | 32 | PeerID |
///
/// Anything else, another room, or our own PeerID: the connection is closed without an answer.
struct Opening: Sendable {
    enum Step: Equatable {
        case wait
        /// The peer said who it is; `answer` goes out next; `rest` came behind the opening.
        case opened(PeerID, answer: [UInt8], rest: [UInt8])
        case refuse(OpeningRefusal)
    }

    static let magic = Array("groupchat-plain-v1\0".utf8)
    static let length = magic.count + 64

    private let isDialler: Bool
    private let peer: PeerID
    private let own: [UInt8]
    private var received: [UInt8] = []

    init(room: RoomID, peer: PeerID, isDialler: Bool) {
        self.isDialler = isDialler
        self.peer = peer
        own = Self.magic + room.bytes + peer.bytes
    }

    /// What this side says before it has heard anything.
    var firstBytes: [UInt8] { isDialler ? own : [] }

    mutating func feed(_ bytes: some Collection<UInt8>) -> Step {
        let taken = min(bytes.count, Self.length - received.count)
        received.append(contentsOf: bytes.prefix(taken))
        if let refusal = mismatch() { return .refuse(refusal) }
        guard received.count == Self.length else { return .wait }
        guard let other = PeerID(received.suffix(32)) else { return .refuse(.invalidPeer) }
        if other == peer { return .refuse(.ourself) }
        return .opened(other, answer: isDialler ? [] : own, rest: Array(bytes.dropFirst(taken)))
    }

    /// Judges what came so far at its first wrong byte.
    private func mismatch() -> OpeningRefusal? {
        let room = Self.magic.count + 32
        if !received.prefix(Self.magic.count).elementsEqual(own.prefix(min(received.count, Self.magic.count))) {
            return .notOurProtocol
        }
        return received.prefix(room).elementsEqual(own.prefix(min(received.count, room))) ? nil : .anotherRoom
    }
}

/// Why a connection ended in its opening.
enum OpeningRefusal: Equatable, Sendable, CustomStringConvertible {
    case notOurProtocol, anotherRoom, invalidPeer, ourself

    var description: String {
        switch self {
        case .notOurProtocol: "not a groupchat peer"
        case .anotherRoom: "a peer of another room"
        case .invalidPeer: "an invalid PeerID"
        case .ourself: "our own PeerID"
        }
    }
}
