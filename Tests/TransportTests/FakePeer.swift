import Addressing
import HostilePeer
import Identity

@testable import Transport

typealias FakePeer = WirePeer
typealias FakeListener = WireListener

extension FakePeer {
    static func dial(_ port: UInt16, address: IPAddress = .loopback) throws -> FakePeer {
        try dial(Endpoint(address: address, port: port))
    }

    /// Does the TLS handshake, and no more.
    func encrypt(as peer: PeerID, isDialler: Bool, _ context: TLSContext? = nil) throws {
        try encrypt(try context ?? Keyring.context(of: peer), isDialler: isDialler)
    }

    /// Dials, and proves to be `peer` and in the room.
    static func open(to node: Node, as peer: PeerID) throws -> FakePeer {
        let fake = try dial(node.port)
        try fake.open(node.room, as: peer, try Keyring.context(of: peer), isDialler: true)
        return fake
    }

    /// Dials, and opens a chat link as `peer`.
    static func link(
        to node: Node, as peer: PeerID, purpose: LinkPurpose = .chat, instance: ProcessInstance = .init(),
        number: UInt64 = 1, replaces: LinkName? = nil
    ) throws -> FakePeer {
        let fake = try open(to: node, as: peer)
        try fake.write(
            .link(Introduction(purpose: purpose, instance: instance, number: number, replaces: replaces)))
        if purpose == .chat { try fake.write(Node.greeting) }
        _ = try fake.readFrame()
        if purpose == .chat { _ = try fake.readFrame() }
        return fake
    }

    /// Opens a link that came in, as `peer`.
    ///
    /// - Returns: What the dialler said in its Link frame.
    func answer(_ room: RoomKey, as peer: PeerID, instance: ProcessInstance) throws -> Introduction {
        try open(room, as: peer, try Keyring.context(of: peer), isDialler: false)
        guard case .link(let introduction) = try TransportMessage(try readFrame()) else { throw Ended() }
        if introduction.purpose == .chat { _ = try readFrame() }
        try write(
            .link(Introduction(purpose: introduction.purpose, instance: instance, number: introduction.number)))
        if introduction.purpose == .chat { try write(Node.greeting) }
        return introduction
    }
}
