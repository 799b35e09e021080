import CSystem
import Glibc

/// An open file or socket, closed with the last reference to it.
public final class Descriptor: Sendable {
    /// The number that system calls take; valid while this object lives.
    public let number: CInt

    /// Takes over `number`: nobody else may close it.
    public init(owning number: CInt) { self.number = number }

    deinit { close(number) }
}

/// Sees to it that 0, 1 and 2 are taken, so that no file of ours becomes one of them where a parent left them closed.
///
/// To be called before anything is opened. Using what was closed stays an error: 0 can only be written, 1 and 2 only
/// read.
public func holdStandardDescriptors() {
    for (number, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(number, F_GETFD) == -1 && errno == EBADF {
        // The lowest free number, which this is.
        _ = open("/dev/null", flags)
    }
}

/// Sends bytes with a descriptor beside them over a Unix socket (SCM_RIGHTS, unix(7)).
///
/// - Returns: How many of the bytes went; the descriptor goes with the first.
public func sendDescriptor(
    _ descriptor: CInt, with bytes: [UInt8], over socket: CInt, to subject: String
) throws(SystemCallError) -> Int {
    try systemCall("sendmsg", subject) {
        bytes.withUnsafeBytes { csystem_send_descriptor(socket, $0.baseAddress, $0.count, descriptor) }
    }
}

/// What one read from a Unix socket brought.
public struct ReceivedBytes: Sendable {
    /// Empty at the end of the stream.
    public var bytes: [UInt8]
    /// A descriptor that came beside them, close-on-exec.
    public var descriptor: Descriptor?
}

/// Reads at most `limit` bytes, and a descriptor if one came along.
public func receiveDescriptor(
    atMost limit: Int, over socket: CInt, from subject: String
) throws(SystemCallError) -> ReceivedBytes {
    var received: CInt = -1
    var count = 0
    var failure: SystemCallError?
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
        do throws(SystemCallError) {
            count = try systemCall("recvmsg", subject) {
                csystem_receive_descriptor(socket, buffer.baseAddress, buffer.count, &received)
            }
        } catch { failure = error }
        initialized = count
    }
    if let failure { throw failure }
    return ReceivedBytes(bytes: bytes, descriptor: received < 0 ? nil : Descriptor(owning: received))
}

/// The user at the other end of a Unix socket, as of its connect(2) (SO_PEERCRED, unix(7)).
public func peerUser(of socket: CInt) throws(SystemCallError) -> UInt32 {
    UInt32(truncatingIfNeeded: try systemCall("getsockopt", "SO_PEERCRED") { csystem_peer_user(socket) })
}
