import Glibc
import SystemCalls

/// A blocking stream socket, for what no client or peer of ours would say.
///
/// What isn't read or written within ten seconds is an error.
final class RawSocket: Sendable {
    /// The other side closed.
    struct Ended: Error {}

    private let descriptor: CInt

    private init(_ family: CInt, _ subject: String) throws(SystemCallError) {
        descriptor = try systemCall("socket", subject) {
            socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var limit = timeval(tv_sec: 10, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Connects to a daemon's TCP port.
    convenience init(_ place: Place) throws(SystemCallError) {
        try self.init(AF_INET, "\(place)")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = place.port.bigEndian
        inet_pton(AF_INET, place.address, &address.sin_addr)
        try connect("\(place)", address)
        var one: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Connects to a Unix socket.
    convenience init(path: String) throws(SystemCallError) {
        try self.init(AF_UNIX, path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        try connect(path, address)
    }

    private func connect<Address>(_ subject: String, _ address: Address) throws(SystemCallError) {
        try systemCall("connect", subject) {
            withUnsafeBytes(of: address) { bytes -> CInt in
                guard let base = bytes.baseAddress else { return -1 }
                return Glibc.connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
        }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try systemCall("send", "a test's socket") {
                rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Exactly that many bytes.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try readSome(count - bytes.count)
            if more.isEmpty { throw Ended() }
            bytes += more
        }
        return bytes
    }

    /// All up to the end, however it ends.
    func readToEnd() throws(SystemCallError) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(SystemCallError) {
            while case let more = try readSome(65_536), !more.isEmpty { bytes += more }
        } catch { if error.code != ECONNRESET { throw error } }
        return bytes
    }

    /// The next line, without its end.
    func readLine() throws -> String {
        var bytes: [UInt8] = []
        while case let byte = try read(1)[0], byte != 10 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func readSome(_ most: Int) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = try systemCall("recv", "a test's socket") { recv(descriptor, &bytes, most, 0) }
        return Array(bytes.prefix(count))
    }

    /// Says that nothing follows.
    func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Ends both ways; whoever reads here sees the end.
    func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }
}
