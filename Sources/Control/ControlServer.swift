public import Dispatch
import Glibc
import SystemCalls

/// What a daemon does with its clients' requests.
public protocol ControlHandler: Sendable {
    /// Called on the server's queue: must not wait. The reply may be given later, from any thread.
    func handle(_ call: ControlCall, from connection: ControlConnection, reply: ControlReply)
    /// The same of messages that a client sent at once; where it isn't there, each comes as a call.
    func handle(_ messages: ControlMessages, from connection: ControlConnection)
    /// The client is gone; no more of its requests come. Called on the server's queue, once for each client.
    func connectionClosed(_ connection: ControlConnection)
}

extension ControlHandler {
    public func handle(_ messages: ControlMessages, from connection: ControlConnection) {
        for index in messages.parameters.indices {
            handle(
                .send(messages.parameters[index]), from: connection,
                reply: ControlReply { answer in messages.answer(index, answer) })
        }
    }
}

/// A daemon's Unix socket: JSON-RPC 2.0, one object a line (docs/protocol.md, "Local API").
///
/// A client that doesn't read never makes anybody wait. Clients of another user are refused.
///
/// `@unchecked`: what changes is only touched on `queue`.
public final class ControlServer: @unchecked Sendable {
    private let path: String
    private let listener: Descriptor
    private let inode: ino_t?
    private let limits: ControlLimits
    private let handler: any ControlHandler
    private let queue: DispatchQueue
    private var acceptor: (any DispatchSourceRead)?
    private var connections: Set<ControlConnection> = []

    /// Listens, and serves until ``close()``.
    ///
    /// - Parameters:
    ///   - state: Its directories are prepared.
    ///   - lock: Shows that no other daemon uses `state`: then a socket that nobody answers is stale, and is replaced.
    ///   - limits: Limits and timers.
    ///   - target: Which queue its own one runs on: one that is at work anyway needs no other thread to be woken.
    ///   - handler: Kept until the server goes.
    /// - Throws: With ``ExitStatus/tryAgain`` when another daemon answers on the path.
    public init(
        for state: StateDirectory, holding lock: StateLock, limits: ControlLimits = ControlLimits(),
        on target: DispatchQueue? = nil, handler: any ControlHandler
    ) throws(CommandFailure) {
        path = state.socket
        self.limits = limits
        self.handler = handler
        queue = DispatchQueue(label: "chat.control", target: target)
        listener = try withExtendedLifetime(lock) { () throws(CommandFailure) in
            try ControlListener.open(state.socket)
        }
        inode = (try? FileStatus(at: path))?.inode
        queue.async { self.startAccepting() }
    }

    /// Takes the socket away, and lets the clients go once they have what is queued for them.
    ///
    /// Waits at most ``ControlLimits/farewell``.
    public func close() {
        let isDrained = DispatchSemaphore(value: 0)
        queue.async { self.shutDown(isDrained) }
        _ = isDrained.wait(timeout: .now() + .milliseconds(limits.farewell + 100))
    }

    // MARK: On the queue

    private var drained: DispatchSemaphore?

    private func shutDown(_ isDrained: DispatchSemaphore) {
        acceptor?.cancel()
        acceptor = nil
        if let inode, (try? FileStatus(at: path))?.inode == inode { unlink(path) }
        drained = isDrained
        for connection in connections { connection.leave() }
        tellIfDrained()
    }

    private func tellIfDrained() {
        guard connections.isEmpty else { return }
        drained.take()?.signal()
    }

    private func startAccepting() {
        let source = DispatchSource.makeReadSource(fileDescriptor: listener.number, queue: queue)
        source.setEventHandler { [weak self] in self?.accept() }
        source.setCancelHandler { [listener] in withExtendedLifetime(listener) {} }
        acceptor = source
        source.resume()
    }

    private func accept() {
        while acceptor != nil {
            let number = Glibc.accept(listener.number, nil, nil)
            if number >= 0 {
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                _ = fcntl(number, F_SETFL, O_NONBLOCK)
                admit(Descriptor(owning: number))
            } else if errno != EINTR && errno != ECONNABORTED {
                return errno == EAGAIN ? () : pauseAccepting()
            }
        }
    }

    /// Descriptors ran out: the queue of connections waits, and we don't spin.
    private func pauseAccepting() {
        acceptor?.cancel()
        acceptor = nil
        queue.asyncAfter(deadline: .now() + .milliseconds(limits.acceptPause)) { [weak self] in
            guard let self, drained == nil else { return }
            startAccepting()
        }
    }

    private func admit(_ socket: Descriptor) {
        guard let user = try? peerUser(of: socket.number), user == geteuid() else {
            return turnAway(socket, ControlError(.noPermission, "this chatd belongs to another user"))
        }
        if connections.count >= limits.clients { noticeEnds() }
        guard connections.count < limits.clients else {
            return turnAway(socket, ControlError(.tryAgain, "chatd serves \(limits.clients) clients already"))
        }
        let connection = ControlConnection(
            socket, on: queue, limits: limits, handler: handler,
            closed: { [weak self, handler] connection in
                handler.connectionClosed(connection)
                self?.connections.remove(connection)
                self?.tellIfDrained()
            })
        connections.insert(connection)
        connection.start()
    }

    /// Clients that have closed hold places until it is their turn to be read; where those run out they come first.
    private func noticeEnds() {
        for connection in connections { connection.read() }
    }

    /// One line into a fresh socket's empty buffer, which takes it at once.
    private func turnAway(_ socket: Descriptor, _ error: ControlError) {
        guard let line = try? JSONLine.encode(Failure(id: .null, error: error)) else { return }
        _ = send(socket.number, line, line.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
}
