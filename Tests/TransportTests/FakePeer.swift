import Addressing
import Glibc
import Identity
import Locking
import SystemCalls

@testable import Transport

/// A peer that says what a test wants, over a blocking socket: as it is, and encrypted after ``encrypt(as:isDialler:_:)``.
final class FakePeer: Sendable {
    struct Ended: Error {}
    struct Refused: Error {
        let refusal: OpeningRefusal
    }

    private let descriptor: CInt
    private let stream = Locked<TLSStream?>(nil)
    private let other = Locked<PeerID?>(nil)

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit { close(descriptor) }

    static func dial(_ port: UInt16, address: IPAddress = .loopback) throws -> FakePeer {
        let endpoint = Endpoint(address: address, port: port)
        let descriptor = try newSocket(address)
        try systemCall("connect", endpoint.description) {
            SocketAddress.with(endpoint) { connect(descriptor, $0, $1) }
        }
        return FakePeer(descriptor)
    }

    static func newSocket(_ address: IPAddress) throws -> CInt {
        let family = if case .v4 = address { AF_INET } else { AF_INET6 }
        return try systemCall("socket", "a fake peer") { socket(family, CInt(SOCK_STREAM.rawValue), 0) }
    }

    var tls: TLSStream? { stream.withLock { $0 } }

    /// Does the TLS handshake, and no more.
    func encrypt(as peer: PeerID, isDialler: Bool, _ context: TLSContext? = nil) throws {
        let stream = TLSStream(try context ?? Keyring.context(of: peer), isDialler: isDialler)
        while true {
            let step = stream.handshake()
            try flush(stream)
            switch step {
            case .wait: try feed(stream)
            case .refused(let refusal): throw Refused(refusal: refusal)
            case .done(let peer):
                other.withLock { $0 = peer }
                return self.stream.withLock { $0 = stream }
            }
        }
    }

    /// What both sides are to prove on this connection.
    func proof(_ room: RoomKey, as peer: PeerID, isDialler: Bool) throws -> RoomProof {
        guard let tls, let other = other.withLock({ $0 }) else { throw Ended() }
        return RoomProof(
            room, exported: tls.exportedKey(), initiator: isDialler ? peer : other,
            responder: isDialler ? other : peer)
    }

    func flush(_ stream: TLSStream) throws {
        try writeRaw(stream.takeOutput())
    }

    private func feed(_ stream: TLSStream) throws {
        let bytes = try readRaw(65536)
        if bytes.isEmpty { throw Ended() }
        bytes.withUnsafeBytes { stream.feed($0) }
    }

    func write(_ bytes: [UInt8]) throws {
        guard let tls else { return try writeRaw(bytes) }
        bytes.withUnsafeBytes { tls.write($0) }
        try flush(tls)
    }

    func writeRaw(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try systemCall("send", "a fake peer") {
                rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            }
            rest = rest.dropFirst(count)
        }
    }

    func write(_ frame: Frame) throws { try write(frame.encoded) }
    func write(_ message: TransportMessage) throws { try write(message.frame) }

    /// Exactly that many bytes; throws ``Ended`` if the stream ends before, another error after five seconds.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = try readSome(count - bytes.count)
            if part.isEmpty { throw Ended() }
            bytes += part
        }
        return bytes
    }

    /// Empty at the end.
    private func readSome(_ most: Int) throws -> [UInt8] {
        guard let tls else { return try readRaw(most) }
        var bytes = [UInt8](repeating: 0, count: most)
        while true {
            switch bytes.withUnsafeMutableBytes({ tls.read(into: $0) }) {
            case .bytes(let count): return Array(bytes.prefix(count))
            case .end: return []
            case .failed: throw Ended()
            case .wait: do { try feed(tls) } catch is Ended { return [] }
            }
        }
    }

    func readRaw(_ most: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = try systemCall("recv", "a fake peer") { recv(descriptor, &bytes, most, 0) }
        return Array(bytes.prefix(count))
    }

    func readFrame() throws -> Frame {
        let header = try read(6)
        let length = header.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return Frame(kind: header[4], flags: header[5], body: try read(length))
    }

    /// All up to the end of the stream, however it ends; throws if it hasn't within five seconds.
    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while true {
                let part = try readSome(65536)
                if part.isEmpty { return bytes }
                bytes += part
            }
        } catch let error as SystemCallError where error.code == ECONNRESET {
            return bytes
        }
    }

    func halfClose() throws {
        if let tls {
            tls.writeEnd()
            try flush(tls)
        }
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Ends the stream without a word about it at the level of TLS.
    func cut() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Resets the connection at once, by closing without lingering; the number stays taken, by another socket.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        let other = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        dup2(other, descriptor)
        close(other)
    }
}

extension FakePeer {
    /// Dials, and proves to be `peer` and in the room.
    static func open(to node: Node, as peer: PeerID) throws -> FakePeer {
        let fake = try dial(node.port)
        try fake.encrypt(as: peer, isDialler: true)
        let proof = try fake.proof(node.room, as: peer, isDialler: true)
        try fake.write(proof.initiator)
        guard try fake.read(RoomProof.length) == proof.responder else { throw Ended() }
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
        try encrypt(as: peer, isDialler: false)
        let proof = try proof(room, as: peer, isDialler: false)
        guard try read(RoomProof.length) == proof.initiator else { throw Ended() }
        try write(proof.responder)
        guard case .link(let introduction) = try TransportMessage(try readFrame()) else { throw Ended() }
        if introduction.purpose == .chat { _ = try readFrame() }
        try write(
            .link(Introduction(purpose: introduction.purpose, instance: instance, number: introduction.number)))
        if introduction.purpose == .chat { try write(Node.greeting) }
        return introduction
    }
}

/// A fake peer that waits to be dialled.
final class FakeListener: Sendable {
    let port: UInt16
    private let descriptor: CInt

    init() throws {
        let descriptor = try FakePeer.newSocket(.loopback)
        try systemCall("bind", "127.0.0.1") {
            SocketAddress.with(Endpoint(address: .loopback, port: 0)) { bind(descriptor, $0, $1) }
        }
        try systemCall("listen", "127.0.0.1") { listen(descriptor, 16) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        port = SocketAddress.filled { getsockname(descriptor, $0, $1) }.1?.port ?? 0
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func accept() throws -> FakePeer {
        FakePeer(try systemCall("accept", "127.0.0.1") { Glibc.accept(descriptor, nil, nil) })
    }

    var endpoint: Endpoint { Endpoint(address: .loopback, port: port) }
}
