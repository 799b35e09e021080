import Addressing
import Glibc
import HostilePeer
import Identity
import Transport

extension Place {
    var endpoint: Endpoint {
        var value = in_addr()
        inet_pton(AF_INET, address, &value)
        return Endpoint(address: .v4(UInt32(bigEndian: value.s_addr)), port: port)
    }
}

extension WirePeer {
    /// A connection to a daemon's TCP port on which both sides have proven who they are and that they are in the room.
    static func open(_ place: Place, as key: SigningKey, in room: RoomKey) throws -> WirePeer {
        let peer = try dial(place.endpoint, patience: 10)
        try peer.open(room, as: key.peer, TLSContext(key), isDialler: true)
        return peer
    }
}
