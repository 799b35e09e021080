public import Addressing
import Dispatch
import Glibc
import SystemCalls

/// Where to wait for peers.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// All addresses of both families, or of IPv4 on a host without IPv6. Port 0 lets the system choose.
    case everywhere(port: UInt16)
    /// One address alone; `[::]` takes IPv4 too.
    case only(Endpoint)

    public var description: String {
        switch self {
        case .everywhere(let port): "[::]:\(port)"
        case .only(let endpoint): endpoint.description
        }
    }
}

/// A socket that takes connections in.
///
/// `@unchecked`: what changes is only touched on the queue that it was started on.
final class Listener: @unchecked Sendable {
    let port: UInt16
    let endpoint: Endpoint
    private let descriptor: Descriptor
    private var source: (any DispatchSourceRead)?
    private var isPaused = false

    init(on address: ListenAddress) throws(SystemCallError) {
        switch address {
        case .only(let endpoint): (descriptor, self.endpoint) = try Self.open(endpoint)
        case .everywhere(let port):
            do throws(SystemCallError) {
                (descriptor, endpoint) = try Self.open(Endpoint(address: .anyV6, port: port))
            } catch  where error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL {
                (descriptor, endpoint) = try Self.open(Endpoint(address: .anyV4, port: port))
            }
        }
        port = endpoint.port
    }

    private static func open(_ endpoint: Endpoint) throws(SystemCallError) -> (Descriptor, Endpoint) {
        let subject = endpoint.description
        let descriptor = try SocketStream.nonBlockingSocket(for: endpoint.address, subject: subject)
        try SocketStream.set(SO_REUSEADDR, to: 1, at: SOL_SOCKET, on: descriptor, subject: subject)
        if case .v6 = endpoint.address {
            try SocketStream.set(IPV6_V6ONLY, to: 0, at: CInt(IPPROTO_IPV6), on: descriptor, subject: subject)
        }
        try systemCall("bind", subject) { SocketAddress.with(endpoint) { bind(descriptor.number, $0, $1) } }
        try systemCall("listen", subject) { listen(descriptor.number, SOMAXCONN) }
        let bound = SocketAddress.filled { getsockname(descriptor.number, $0, $1) }.1
        return (descriptor, bound ?? endpoint)
    }

    /// Accepts from now on.
    ///
    /// - Parameters:
    ///   - queue: Where all happens.
    ///   - batch: Most connections taken before what else is on the queue has its turn.
    ///   - pause: How long to wait when descriptors or memory have run out: the connection stays pending, so the socket
    ///     would be readable at once again.
    ///   - accept: Takes the next connection.
    ///   - accepted: Gets each connection, non-blocking.
    ///   - failed: Gets each failure after which there is a pause.
    func start(
        on queue: DispatchQueue, batch: Int = 64, pause: Duration,
        accept: @escaping @Sendable (Listener) throws(SystemCallError) -> (Descriptor, Endpoint?) = Listener.accept,
        accepted: @escaping @Sendable (Descriptor, Endpoint) -> Void,
        failed: @escaping @Sendable (SystemCallError) -> Void
    ) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        source.setCancelHandler { [descriptor] in withExtendedLifetime(descriptor) {} }
        source.setEventHandler { [weak self] in
            guard let self, let error = acceptSome(batch, accept, accepted) else { return }
            failed(error)
            self.pause(for: pause, on: queue)
        }
        self.source = source
        source.resume()
    }

    func cancel() {
        guard let source = source.take() else { return }
        if isPaused { source.resume() }
        source.cancel()
    }

    /// - Returns: What keeps more from being accepted, if anything does.
    private func acceptSome(
        _ most: Int, _ accept: (Listener) throws(SystemCallError) -> (Descriptor, Endpoint?),
        _ accepted: (Descriptor, Endpoint) -> Void
    ) -> SystemCallError? {
        for _ in 0..<most where source != nil {
            do throws(SystemCallError) {
                let (descriptor, remote) = try accept(self)
                if let remote { accepted(descriptor, remote) }
            } catch  where error.code == EAGAIN {
                return nil
            } catch  where [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) {
                return error
            } catch {}  // one connection that ended before it was taken, or its network error (accept(2))
        }
        return nil
    }

    static func accept(from listener: Listener) throws(SystemCallError) -> (Descriptor, Endpoint?) {
        let subject = listener.endpoint.description
        var remote: Endpoint?
        let number = try systemCall("accept", subject) {
            let (number, endpoint) = SocketAddress.filled { Glibc.accept(listener.descriptor.number, $0, $1) }
            remote = endpoint
            return number
        }
        let accepted = Descriptor(owning: number)
        // accept4(2), which does all at once, isn't visible from Swift.
        try systemCall("fcntl", subject) { fcntl(number, F_SETFL, O_NONBLOCK) }
        try systemCall("fcntl", subject) { fcntl(number, F_SETFD, FD_CLOEXEC) }
        return (accepted, remote)
    }

    private func pause(for duration: Duration, on queue: DispatchQueue) {
        guard let source else { return }
        isPaused = true
        source.suspend()
        queue.asyncAfter(deadline: .now() + .nanoseconds(duration.nanoseconds)) { [weak self] in
            guard let self, isPaused, let source = self.source else { return }
            isPaused = false
            source.resume()
        }
    }
}
