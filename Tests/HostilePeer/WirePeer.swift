package import Addressing
import Glibc
package import Identity
import Locking
package import SystemCalls
package import Transport

/// One end of a connection that says what its user wants: as it is, and encrypted after ``encrypt(_:isDialler:)``.
///
/// Blocks. One thread may read while others write; encrypt before there are several.
package final class WirePeer: Sendable {
    /// The other end closed the connection, or broke the encryption.
    package struct Ended: Error {
        package init() {}
    }

    /// The handshake failed by what the other end showed of itself.
    package struct Refused: Error {
        package let refusal: OpeningRefusal
    }

    private let descriptor: CInt
    private let stream = Locked<TLSStream?>(nil)
    private let other = Locked<PeerID?>(nil)
    private let writing = Locked(())

    /// Takes over a connected socket.
    ///
    /// - Parameter patience: In seconds; what isn't read or written within it is an error.
    package init(_ descriptor: CInt, patience: Int = 5) {
        self.descriptor = descriptor
        Self.limit(descriptor, to: patience)
        var one: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit { close(descriptor) }

    /// Connects, from `source` if there is one.
    package static func dial(
        _ endpoint: Endpoint, from source: IPAddress? = nil, patience: Int = 5
    ) throws(SystemCallError) -> WirePeer {
        let descriptor = try newSocket(endpoint.address)
        let peer = WirePeer(descriptor, patience: patience)
        if let source {
            var one: CInt = 1
            setsockopt(descriptor, CInt(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &one, socklen_t(MemoryLayout<CInt>.size))
            try systemCall("bind", "\(source)") {
                SocketAddress.with(Endpoint(address: source, port: 0)) { bind(descriptor, $0, $1) }
            }
        }
        try systemCall("connect", endpoint.description) {
            SocketAddress.with(endpoint) { connect(descriptor, $0, $1) }
        }
        return peer
    }

    package static func newSocket(_ address: IPAddress) throws(SystemCallError) -> CInt {
        let family = if case .v4 = address { AF_INET } else { AF_INET6 }
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        return try systemCall("socket", "a peer of the tests") { socket(family, type, 0) }
    }

    package static func limit(_ descriptor: CInt, to patience: Int) {
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var limit = timeval(tv_sec: patience, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    package var tls: TLSStream? { stream.withLock { $0 } }

    /// Whom the handshake showed at the other end.
    package var peer: PeerID? { other.withLock { $0 } }

    /// Does the TLS handshake, and no more.
    package func encrypt(_ context: TLSContext, isDialler: Bool) throws {
        let stream = TLSStream(context, isDialler: isDialler)
        while true {
            let step = stream.handshake()
            try flush(stream)
            switch step {
            case .wait:
                let bytes = try readRaw(65_536)
                if bytes.isEmpty { throw Ended() }
                bytes.withUnsafeBytes { stream.feed($0) }
            case .refused(let refusal): throw Refused(refusal: refusal)
            case .done(let peer):
                other.withLock { $0 = peer }
                return self.stream.withLock { $0 = stream }
            }
        }
    }

    /// What both sides are to prove on this connection.
    package func proof(_ room: RoomKey, as peer: PeerID, isDialler: Bool) throws -> RoomProof {
        guard let tls, let other = self.peer else { throw Ended() }
        return RoomProof(
            room, exported: tls.exportedKey(), initiator: isDialler ? peer : other,
            responder: isDialler ? other : peer)
    }

    /// Does all of the opening as an honest peer would.
    package func open(_ room: RoomKey, as peer: PeerID, _ context: TLSContext, isDialler: Bool) throws {
        try encrypt(context, isDialler: isDialler)
        let proof = try proof(room, as: peer, isDialler: isDialler)
        if isDialler { try write(proof.initiator) }
        guard try read(RoomProof.length) == (isDialler ? proof.responder : proof.initiator) else { throw Ended() }
        if !isDialler { try write(proof.responder) }
    }

    // MARK: Writing

    package func flush(_ stream: TLSStream) throws(SystemCallError) { try writeRaw(stream.takeOutput()) }

    package func write(_ bytes: [UInt8]) throws {
        try writing.withLock { _ in
            let sealed = stream.withLock { tls -> [UInt8] in
                guard let tls else { return bytes }
                bytes.withUnsafeBytes { tls.write($0) }
                return tls.takeOutput()
            }
            try writeRaw(sealed)
        }
    }

    package func writeRaw(_ bytes: [UInt8]) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try systemCall("send", "a peer of the tests") {
                rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            }
            rest = rest.dropFirst(count)
        }
    }

    package func write(_ frame: Frame) throws { try write(frame.encoded) }
    package func write(_ message: TransportMessage) throws { try write(message.frame) }

    // MARK: Reading

    /// Exactly that many bytes; throws ``Ended`` if the stream ends before, another error after the patience is over.
    package func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = try readSome(count - bytes.count)
            if part.isEmpty { throw Ended() }
            bytes += part
        }
        return bytes
    }

    /// Empty at the end.
    package func readSome(_ most: Int) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        while true {
            let plaintext = stream.withLock { tls in bytes.withUnsafeMutableBytes { tls?.read(into: $0) } }
            switch plaintext {
            case .bytes(let count): return Array(bytes.prefix(count))
            case .end, .failed: return []
            case nil: return try readRaw(most)
            case .wait:
                let sealed = try readRaw(65_536)
                if sealed.isEmpty { return [] }
                stream.withLock { tls in sealed.withUnsafeBytes { tls?.feed($0) } }
            }
        }
    }

    package func readRaw(_ most: Int) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = try systemCall("recv", "a peer of the tests") { recv(descriptor, &bytes, most, 0) }
        return Array(bytes.prefix(count))
    }

    package func readFrame() throws -> Frame {
        let header = try read(6)
        let length = header.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return Frame(kind: header[4], flags: header[5], body: try read(length))
    }

    /// All up to the end of the stream, however it ends; throws if it hasn't when the patience is over.
    package func readToEnd() throws(SystemCallError) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(SystemCallError) {
            while true {
                let part = try readSome(65_536)
                if part.isEmpty { return bytes }
                bytes += part
            }
        } catch  where error.code == ECONNRESET {
            return bytes
        }
    }

    // MARK: Ending

    package func halfClose() throws {
        if let tls {
            tls.writeEnd()
            try flush(tls)
        }
        cut()
    }

    /// Ends the stream without a word about it at the level of TLS.
    package func cut() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Ends both ways, as a process that dies does; whoever reads here sees the end.
    package func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Resets the connection at once, by closing without lingering; the number stays taken, by another socket.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        let other = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        dup2(other, descriptor)
        close(other)
    }

    /// Whether the other end still has the connection open, as far as it has said.
    package var isOpen: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
        return count > 0 || (count == -1 && errno == EAGAIN)
    }
}

/// A socket that waits to be dialled; blocks.
package final class WireListener: Sendable {
    package let endpoint: Endpoint
    private let descriptor: CInt

    /// - Parameter patience: In seconds; 0 waits for ever.
    package init(
        on address: Endpoint = Endpoint(address: .loopback, port: 0), patience: Int = 5
    ) throws(SystemCallError) {
        let descriptor = try WirePeer.newSocket(address.address)
        self.descriptor = descriptor
        var one: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        try systemCall("bind", address.description) { SocketAddress.with(address) { bind(descriptor, $0, $1) } }
        try systemCall("listen", address.description) { listen(descriptor, SOMAXCONN) }
        WirePeer.limit(descriptor, to: patience)
        endpoint = SocketAddress.filled { getsockname(descriptor, $0, $1) }.1 ?? address
    }

    deinit { close(descriptor) }

    package var port: UInt16 { endpoint.port }

    package func accept(patience: Int = 5) throws(SystemCallError) -> WirePeer {
        WirePeer(
            try systemCall("accept", endpoint.description) { Glibc.accept(descriptor, nil, nil) }, patience: patience)
    }

    /// Whoever waits in ``accept(patience:)`` sees an error.
    package func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }
}
