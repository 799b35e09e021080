import Addressing
import Dispatch
import Glibc
import SystemCalls

/// A TCP socket that never blocks, with what tells that it can be read or written.
///
/// Used on the queue that it was made for. An event source tells of a hang-up once, so whoever is told that the socket
/// can be read reads until ``Received/wouldBlock`` or comes back by itself.
///
/// `@unchecked`: all that changes is only touched on `queue`.
final class SocketStream: @unchecked Sendable {
    enum Received {
        case bytes(Int)
        case wouldBlock
        case end
        case failed(SystemCallError)
    }

    enum Sent {
        case bytes(Int)
        case wouldBlock
        case failed(SystemCallError)
    }

    let remote: Endpoint
    private let descriptor: Descriptor
    private let reading: any DispatchSourceRead
    private let writing: any DispatchSourceWrite
    private var isReading = false
    private var isWriting = false
    private var isCancelled = false

    init(_ descriptor: Descriptor, remote: Endpoint, queue: DispatchQueue) {
        self.descriptor = descriptor
        self.remote = remote
        reading = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: queue)
        // The number may only be used again when both sources have let go of it.
        reading.setCancelHandler { withExtendedLifetime(descriptor) {} }
        writing.setCancelHandler { withExtendedLifetime(descriptor) {} }
    }

    /// Starts to connect; whether it did is told by ``connectionError()`` once the socket can be written.
    static func connect(
        to endpoint: Endpoint, limits: TransportLimits, queue: DispatchQueue
    ) throws(SystemCallError) -> SocketStream {
        let subject = endpoint.description
        let descriptor = try nonBlockingSocket(for: endpoint.address, subject: subject)
        let stream = SocketStream(descriptor, remote: endpoint, queue: queue)
        do throws(SystemCallError) {
            try configure(descriptor, limits: limits, subject: subject)
            try systemCall("connect", subject) {
                SocketAddress.with(endpoint) { Glibc.connect(descriptor.number, $0, $1) }
            }
        } catch  where error.code == EINPROGRESS {
        } catch {
            stream.cancel()
            throw error
        }
        return stream
    }

    /// How the attempt to connect ended (connect(2), EINPROGRESS).
    func connectionError() -> SystemCallError? {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &code, &length)
        return code == 0 ? nil : SystemCallError(call: "connect", subject: remote.description, code: code)
    }

    /// Our own end.
    var local: Endpoint? { SocketAddress.filled { getsockname(descriptor.number, $0, $1) }.1 }

    func setHandlers(readable: @escaping @Sendable () -> Void, writable: @escaping @Sendable () -> Void) {
        reading.setEventHandler(handler: readable)
        writing.setEventHandler(handler: writable)
    }

    func setReading(_ wanted: Bool) {
        guard wanted != isReading, !isCancelled else { return }
        isReading = wanted
        if wanted { reading.resume() } else { reading.suspend() }
    }

    func setWriting(_ wanted: Bool) {
        guard wanted != isWriting, !isCancelled else { return }
        isWriting = wanted
        if wanted { writing.resume() } else { writing.suspend() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        switch attempt("recv", { recv(descriptor.number, buffer.baseAddress, buffer.count, 0) }) {
        case .success(0): .end
        case .success(let count?): .bytes(count)
        case .success(nil): .wouldBlock
        case .failure(let error): .failed(error)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Sent {
        switch attempt("send", { send(descriptor.number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }) {
        case .success(let count?): .bytes(count)
        case .success(nil): .wouldBlock
        case .failure(let error): .failed(error)
        }
    }

    /// Nearly every read ends with one that finds nothing: that costs no error and no text.
    ///
    /// - Returns: `nil` where the call would have to wait.
    private func attempt(_ call: String, _ body: () -> Int) -> Result<Int?, SystemCallError> {
        while true {
            let count = body()
            if count >= 0 { return .success(count) }
            let code = errno
            if code == EAGAIN { return .success(nil) }
            if code != EINTR { return .failure(SystemCallError(call: call, subject: remote.description, code: code)) }
        }
    }

    /// Says that nothing more is written.
    func halfClose() { shutdown(descriptor.number, CInt(SHUT_WR)) }

    /// Closes; no handler runs any more.
    ///
    /// Must come before the last reference goes.
    func cancel() {
        guard !isCancelled else { return }
        // A suspended source would never run its cancel handler.
        setReading(true)
        setWriting(true)
        isCancelled = true
        reading.cancel()
        writing.cancel()
    }

    /// A TCP socket of the address's family, closed on exec.
    static func nonBlockingSocket(for address: IPAddress, subject: String) throws(SystemCallError) -> Descriptor {
        let family = if case .v4 = address { AF_INET } else { AF_INET6 }
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return Descriptor(owning: try systemCall("socket", subject) { socket(family, type, 0) })
    }

    /// Leaves nothing of a connection behind when it is closed, not even its place among those that were (tcp(7)).
    static func resetOnClose(_ descriptor: Descriptor) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Sets what every link has (docs/protocol.md, "Liveness").
    static func configure(
        _ descriptor: Descriptor, limits: TransportLimits, subject: String
    ) throws(SystemCallError) {
        let options = [
            (TCP_NODELAY, 1), (TCP_USER_TIMEOUT, CInt(limits.userTimeout.milliseconds)),
            (TCP_NOTSENT_LOWAT, CInt(limits.notSentLowWater)),
        ]
        for (option, value) in options {
            try set(option, to: value, at: CInt(IPPROTO_TCP), on: descriptor, subject: subject)
        }
    }

    static func set(
        _ option: CInt, to value: CInt, at level: CInt, on descriptor: Descriptor, subject: String
    ) throws(SystemCallError) {
        var value = value
        try systemCall("setsockopt", subject) {
            setsockopt(descriptor.number, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
        }
    }
}
