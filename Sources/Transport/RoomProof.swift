package import Identity

/// What two peers tell each other to show that both hold the room's key.
///
/// Pure. Each is bound to one TLS connection by a key that it exports, to who dialled, and to both peers: said on another
/// connection, by another peer or back to its sender it is wrong (docs/protocol.md, "Room proof").
package struct RoomProof: Equatable, Sendable {
    package static let length = 32  // bytes

    /// The dialler's, said first.
    package let initiator: [UInt8]
    /// The acceptor's, said once it has verified the other.
    package let responder: [UInt8]

    package init(_ key: RoomKey, exported: [UInt8], initiator: PeerID, responder: PeerID) {
        let peers = initiator.bytes + responder.bytes
        self.initiator = key.proof(of: exported + Array("I".utf8) + peers)
        self.responder = key.proof(of: exported + Array("R".utf8) + peers)
    }
}
