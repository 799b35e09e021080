import Glibc
import SystemCalls

/// Addresses and descriptors of Unix stream sockets.
enum UnixSocket {
    /// What fits into `sun_path` with its final NUL, in bytes (unix(7)).
    static let longestPath = 107

    /// A socket that neither blocks nor is inherited.
    static func make() throws(SystemCallError) -> Descriptor {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        return Descriptor(owning: try systemCall("socket", "AF_UNIX") { socket(AF_UNIX, kind, 0) })
    }

    static func check(_ path: String) throws(CommandFailure) {
        guard path.utf8.count > longestPath else { return }
        throw CommandFailure(
            .cannotCreate,
            "\(path): a socket's path has at most \(longestPath) bytes, this one has \(path.utf8.count);"
                + " choose a shorter directory")
    }

    /// Connects without blocking: a listener whose queue is full gives EAGAIN.
    static func connect(to path: String) throws(SystemCallError) -> Descriptor {
        let descriptor = try make()
        try systemCall("connect", path) {
            withAddress(path) { Glibc.connect(descriptor.number, $0, $1) }
        }
        return descriptor
    }

    /// Makes the file with mode 0600 from its first moment.
    ///
    /// Linux gives it the mode of the unbound socket less the umask, so no other thread's umask changes.
    static func bind(_ descriptor: Descriptor, to path: String) throws(SystemCallError) {
        try systemCall("fchmod", path) { fchmod(descriptor.number, 0o600) }
        try systemCall("bind", path) {
            withAddress(path) { Glibc.bind(descriptor.number, $0, $1) }
        }
    }

    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(longestPath)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
