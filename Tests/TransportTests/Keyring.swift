import HostilePeer
import Identity
import Locking

@testable import Transport

/// The secret keys of the tests' peers, so that a test can name a peer by its PeerID alone.
enum Keyring {
    private static let contexts = Locked<[PeerID: TLSContext]>([:])
    private static let keys = Locked<[PeerID: SigningKey]>([:])

    static func newPeer() -> PeerID {
        let key = SigningKey()
        keys.withLock { $0[key.peer] = key }
        return key.peer
    }

    static func key(of peer: PeerID) throws -> SigningKey {
        guard let key = keys.withLock({ $0[peer] }) else { throw FakePeer.Ended() }
        return key
    }

    static func context(of peer: PeerID) throws -> TLSContext {
        if let context = contexts.withLock({ $0[peer] }) { return context }
        let context = TLSContext(try key(of: peer))
        contexts.withLock { $0[peer] = context }
        return context
    }
}
