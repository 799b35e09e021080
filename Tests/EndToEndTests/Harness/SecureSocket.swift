import Glibc
import Identity
import Locking
import SystemCalls

@testable import Transport

/// A connection to a daemon's TCP port on which both sides have proven who they are and that they are in the room.
///
/// One thread may read while others write.
final class SecureSocket: Sendable {
    private let socket: RawSocket
    private let stream: Locked<TLSStream>
    private let writing = Locked(())

    init(_ place: Place, as key: SigningKey, in room: RoomKey) throws {
        let tls = TLSStream(TLSContext(key), isDialler: true)
        socket = try RawSocket(place)
        stream = Locked(tls)
        let opening = Opening(tls, key: room, own: key.peer, isDialler: true)
        var progress = opening.feed([])
        while case .wait = progress.step {
            try socket.write(progress.output)
            let bytes = try socket.readSome(65_536)
            if bytes.isEmpty { throw RawSocket.Ended() }
            progress = opening.feed(bytes)
        }
        guard case .opened = progress.step else { throw RawSocket.Ended() }
    }

    func write(_ bytes: [UInt8]) throws {
        try writing.withLock { _ in
            let sealed = stream.withLock { tls in
                bytes.withUnsafeBytes { tls.write($0) }
                return tls.takeOutput()
            }
            try socket.write(sealed)
        }
    }

    /// Exactly that many bytes.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let more = try readSome(count - bytes.count) else { throw RawSocket.Ended() }
            bytes += more
        }
        return bytes
    }

    /// All up to the end, however it ends.
    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while let more = try readSome(65_536) { bytes += more }
        } catch let error as SystemCallError { if error.code != ECONNRESET { throw error } }
        return bytes
    }

    /// `nil` at the end.
    private func readSome(_ most: Int) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: most)
        while true {
            let plaintext = stream.withLock { tls in buffer.withUnsafeMutableBytes { tls.read(into: $0) } }
            switch plaintext {
            case .bytes(let count): return Array(buffer.prefix(count))
            case .end, .failed: return nil
            case .wait:
                let bytes = try socket.readSome(65_536)
                if bytes.isEmpty { return nil }
                stream.withLock { tls in bytes.withUnsafeBytes { tls.feed($0) } }
            }
        }
    }

    /// Ends the connection, as a process that dies does.
    func end() { socket.end() }
}
