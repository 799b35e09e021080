import COpenSSL
package import Addressing
import Glibc
package import Identity
package import SystemCalls
import Transport

/// A way to be a bad peer on one connection, by its name on the command line of `chat-evil`.
package enum Attack: String, CaseIterable, Sendable {
    // Nothing that a peer would say (threats A9 and A10).
    case garbage
    case silent
    case drip
    case stall
    case leave
    case long
    // TLS that isn't ours (A12).
    case wrongProtocol = "wrong-alpn"
    case oldTLS = "old-tls"
    case noCertificate = "no-certificate"
    case twoCertificates = "two-certificates"
    // A proof that doesn't hold (A2 to A4).
    case wrongKey = "wrong-key"
    case noKey = "no-key"
    case replay
    case reflect
    case mixUp = "mix-up"
    // A member who breaks rules (A13); the room's key is needed.
    case oversize
    case unknownFrame = "unknown-frame"
    case malformed
    case flood

    /// What it does, in one line.
    package var summary: String {
        switch self {
        case .garbage: "noise in place of TLS"
        case .silent: "connects and says nothing"
        case .drip: "a ClientHello, a byte a second"
        case .stall: "says nothing after its ClientHello"
        case .leave: "ends the connection as soon as the handshake is done"
        case .long: "TLS records without end in place of a handshake"
        case .wrongProtocol: "offers another application protocol"
        case .oldTLS: "speaks TLS 1.2"
        case .noCertificate: "shows no certificate"
        case .twoCertificates: "shows two certificates"
        case .wrongKey: "proves that it has another key for the room"
        case .noKey: "proves with noise"
        case .replay: "proves with what it said on another connection"
        case .reflect: "proves with what the other end would say"
        case .mixUp: "proves for another peer than its certificate is of"
        case .oversize: "a member that announces a frame of 4 GiB"
        case .unknownFrame: "a member that says a frame of unknown kind"
        case .malformed: "a member whose frames hold noise"
        case .flood: "a member that says well-formed frames as fast as they go"
        }
    }

    /// Whether it begins only after the room's key has been proven.
    package var isMembers: Bool {
        switch self {
        case .oversize, .unknownFrame, .malformed, .flood: true
        default: false
        }
    }
}

/// What an attack came to.
package struct Finding: Equatable, Sendable {
    /// Application bytes that the other end said, decrypted.
    package var heard = 0
    /// Whether it ended the connection, or never took it.
    package var isClosed = false

    /// Whether the other end did what docs/security.md promises.
    package func isAsPromised(of attack: Attack) -> Bool {
        switch attack {
        // It has Link, Hello and what follows said to it like any member, and is held or cut off, not more.
        case .flood: true
        case .oversize, .unknownFrame, .malformed: isClosed
        default: isClosed && heard == 0
        }
    }
}

/// Somebody who attacks one port.
package struct Attacker: Sendable {
    package var target: Endpoint
    /// Which of our addresses to come from.
    package var source: IPAddress?
    package var key: SigningKey
    /// What the room's members have; for attacks of members, and for those that come close.
    package var room: RoomKey
    /// In seconds: how long it waits to be cut off.
    package var patience = 8
    private let context: TLSContext

    package init(target: Endpoint, key: SigningKey = SigningKey(), room: RoomKey) {
        self.target = target
        self.key = key
        self.room = room
        context = TLSContext(key)
    }

    /// Attacks once, and waits for the other end to end it.
    ///
    /// - Throws: Only if nobody listens there.
    package func attempt(_ attack: Attack) throws -> Finding {
        let peer: WirePeer
        do throws(SystemCallError) { peer = try dial() } catch {
            if error.code == ECONNREFUSED || error.code == ENETUNREACH || error.code == EHOSTUNREACH { throw error }
            return Finding(isClosed: true)
        }
        do { try say(attack, on: peer) } catch {}  // it was cut off while it spoke
        if attack == .leave {
            peer.reset()
            return Finding(isClosed: true)
        }
        var finding = Finding()
        do throws(SystemCallError) {
            let said = try peer.readToEnd().count
            // What isn't decrypted is the other end's half of the handshake.
            finding.heard = peer.tls == nil && attack == .stall ? 0 : said
            finding.isClosed = true
        } catch { finding.isClosed = [ECONNRESET, EPIPE].contains(error.code) }
        return finding
    }

    /// Attacks over a connection; for floods.
    ///
    /// - Returns: Whether the other end ended it.
    func isCutOff(_ attack: Attack, on peer: WirePeer) -> Bool {
        do {
            try say(attack, on: peer)
            if attack == .leave || attack == .garbage {
                peer.reset()
                return false
            }
            _ = try peer.readToEnd()
            return true
        } catch let error as SystemCallError { return error.code != EAGAIN } catch { return true }
    }

    package func dial() throws(SystemCallError) -> WirePeer {
        try WirePeer.dial(target, from: source, patience: patience)
    }

    private func say(_ attack: Attack, on peer: WirePeer) throws {
        switch attack {
        case .garbage: try peer.writeRaw(randomBytes(Int.random(in: 1...4_096)))
        case .silent: break
        case .drip: try drip(to: peer)
        case .stall: try peer.writeRaw(clientHello())
        case .long: for _ in 0..<64 { try peer.writeRaw([22, 3, 3, 0x40, 0] + randomBytes(0x4000)) }
        case .leave: try peer.encrypt(context, isDialler: true)
        case .wrongProtocol, .oldTLS, .twoCertificates:
            // A dialler ends its part of the handshake before the acceptor has judged it.
            try peer.encrypt(try changed(for: attack), isDialler: true)
            try peer.write(try peer.proof(room, as: key.peer, isDialler: true).initiator)
        case .noCertificate: try showNothing(to: peer)
        case .wrongKey, .noKey, .replay, .reflect, .mixUp:
            try peer.encrypt(context, isDialler: true)
            try peer.write(try proof(attack, on: peer))
        case .oversize, .unknownFrame, .malformed, .flood: try misbehave(attack, on: peer)
        }
    }

    // MARK: TLS

    private func clientHello() -> [UInt8] {
        let stream = TLSStream(context, isDialler: true)
        _ = stream.handshake()
        return stream.takeOutput()
    }

    private func drip(to peer: WirePeer) throws {
        for byte in clientHello().prefix(patience) {
            try peer.writeRaw([byte])
            sleep(1)
            if !peer.isOpen { return }
        }
    }

    private func changed(for attack: Attack) throws -> TLSContext {
        let context = TLSContext(key)
        let other = [UInt8(11)] + Array("groupchat/2".utf8)
        let isChanged =
            switch attack {
            case .oldTLS: COpenSSL_setVersions(context.pointer, TLS1_2_VERSION, TLS1_2_VERSION) == 1
            case .twoCertificates: addCertificate(to: context)
            default: SSL_CTX_set_alpn_protos(context.pointer, other, UInt32(other.count)) == 0
            }
        if !isChanged { throw WirePeer.Ended() }
        return context
    }

    private func addCertificate(to context: TLSContext) -> Bool {
        guard let (certificate, secret) = PeerCertificate.make(for: key) else { return false }
        EVP_PKEY_free(secret)
        return COpenSSL_addCertificate(context.pointer, certificate) == 1
    }

    private func showNothing(to peer: WirePeer) throws {
        let stream = TLSStream(context, isDialler: true)
        SSL_certs_clear(stream.ssl)
        while case .wait = stream.handshake() {
            try peer.flush(stream)
            let bytes = try peer.readRaw(65_536)
            if bytes.isEmpty { return }
            bytes.withUnsafeBytes { stream.feed($0) }
        }
        try peer.flush(stream)
    }

    // MARK: Proof

    private func proof(_ attack: Attack, on peer: WirePeer) throws -> [UInt8] {
        switch attack {
        case .wrongKey:
            guard let other = RoomKey(room: room.room, secret: randomBytes(RoomKey.length)) else {
                throw WirePeer.Ended()
            }
            return try peer.proof(other, as: key.peer, isDialler: true).initiator
        case .replay:
            let first = try dial()
            try first.encrypt(context, isDialler: true)
            return try first.proof(room, as: key.peer, isDialler: true).initiator
        case .reflect: return try peer.proof(room, as: key.peer, isDialler: true).responder
        case .mixUp: return try peer.proof(room, as: SigningKey().peer, isDialler: true).initiator
        default: return randomBytes(RoomProof.length)
        }
    }

    // MARK: Members

    private func misbehave(_ attack: Attack, on peer: WirePeer) throws {
        try link(peer)
        switch attack {
        case .oversize: try peer.write([255, 255, 255, 255, 20, 0])
        case .unknownFrame: try peer.write(Frame(kind: 99, body: [1, 2, 3]))
        case .malformed: try peer.write(Frame(kind: 17, body: randomBytes(1_000)))
        default:
            let end = ContinuousClock.now + .seconds(patience)
            let frames = (0..<64).flatMap { _ in Frame(kind: 17, body: [0, 0, 0]).encoded }
            while ContinuousClock.now < end { try peer.write(frames) }
        }
    }

    /// Opens a chat link as any member does, with a Hello that is as short as one can be.
    package func link(_ peer: WirePeer, name: String = "mallory") throws {
        try peer.open(room, as: key.peer, context, isDialler: true)
        try peer.write(.link(Introduction(purpose: .chat, instance: ProcessInstance(), number: 1)))
        let name = Array(name.utf8.prefix(63))
        let versions: [UInt8] = [0, 1, 0, 1]
        let times = [UInt8](repeating: 0, count: 16)
        try peer.write(
            Frame(kind: 16, body: versions + [0, 0, 0, 0, UInt8(name.count)] + name + [0] + times))
    }
}
