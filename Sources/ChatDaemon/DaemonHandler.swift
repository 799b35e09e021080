import ChatModel
import ChatSession
import Control
import Dispatch
import Glibc
import History
import Identity
import Locking
import Rx
import SystemCalls

/// Answers the clients' requests from the session.
final class DaemonHandler: ControlHandler {
    /// What `hello` tells beside what the session knows.
    struct Facts: Sendable {
        var port: UInt16
        var stateDirectory: String
        var downloads: String
        var admission = Admission.open
    }

    let session: SessionContainer
    let facts: Facts
    let started = ContinuousClock.now
    let sheet = NewsSheet()
    let watchers = Locked<[ControlConnection: [Watcher]]>([:])
    private let bags = Locked<[ControlConnection: DisposeBag]>([:])
    /// For what waits on the disk, which the server's queue must not.
    let reading = DispatchQueue(label: "chat.daemon.reading")

    init(_ session: SessionContainer, _ facts: Facts) {
        self.session = session
        self.facts = facts
    }

    func handle(_ call: ControlCall, from connection: ControlConnection, reply: ControlReply) {
        switch call {
        case .hello: reply.succeed(hello())
        case .send(let parameters): send(parameters, reply)
        case .sendImage(let parameters, let file): sendImage(parameters, file, reply)
        case .followTransfer(let parameters): follow(parameters, connection, reply)
        case .cancelTransfer(let parameters): cancel(parameters, reply)
        case .peers: read(reply) { try PeersResult(peers: $0.allPeers()) }
        case .log(let parameters):
            read(reply) {
                try LogResult($0.page(parameters), isOlder: parameters.before != nil && parameters.end == nil)
            }
        case .watch(let parameters): watch(parameters, connection, reply)
        case .delivery(let parameters): delivery(parameters, connection, reply)
        case .verify(let parameters): verify(parameters, connection, reply)
        case .gate(let call): handle(call, reply)
        }
    }

    func connectionClosed(_ connection: ControlConnection) {
        let gone = (
            watchers.withLock { $0.removeValue(forKey: connection) },
            bags.withLock { $0.removeValue(forKey: connection) }
        )
        withExtendedLifetime(gone) {}  // let go of here, without the lock
    }

    private func hello() -> HelloResult {
        HelloResult(
            pid: Int(getpid()), room: session.room, roomID: session.roomID.description,
            name: session.displayName, peer: session.peer.description,
            discovery: session.discoveryProvider.value ?? "none", port: Int(facts.port),
            stateDirectory: facts.stateDirectory, downloads: facts.downloads,
            linked: session.peers.count { $0.state == .connected })
    }

    private func send(_ parameters: SendParameters, _ reply: ControlReply) {
        guard let nonce = Self.nonce(parameters.nonce, reply) else { return }
        _ = session.send(message: parameters.text, nonce: nonce).subscribe(
            onNext: { sent in
                reply.succeed(
                    SendResult(
                        id: sent.id.description, number: Int(clamping: sent.number), linked: sent.receivers.count))
            }, onError: { reply.fail(ControlError(describing: $0)) })
    }

    func handle(_ messages: ControlMessages, from connection: ControlConnection) {
        let all = messages.parameters.map { ($0.text, $0.nonce.flatMap { Nonce(hexadecimal: $0) }) }
        session.send(messages: all) { answers in
            messages.answer(
                answers.map { index, result in
                    switch result {
                    case .success(let sent): (index, .sent(sent.id, number: sent.number, linked: sent.receivers.count))
                    case .failure(let error): (index, .failed(ControlError(describing: error)))
                    }
                })
        }
    }

    private func sendImage(_ parameters: SendImageParameters, _ file: Descriptor, _ reply: ControlReply) {
        guard let nonce = Self.nonce(parameters.nonce, reply) else { return }
        _ = session.send(image: file, named: parameters.name, nonce: nonce).subscribe(
            onNext: { sent in
                let receivers = sent.receivers.sorted { $0.key < $1.key }.map { peer, name in
                    SendImageResult.Receiver(peer: peer.description, name: name)
                }
                reply.succeed(
                    SendImageResult(id: sent.id.description, transfer: sent.id.description, receivers: receivers))
            }, onError: { reply.fail(ControlError(describing: $0)) })
    }

    private static func nonce(_ text: String?, _ reply: ControlReply) -> Nonce? {
        guard let text else { return .random() }
        if let nonce = Nonce(hexadecimal: text) { return nonce }
        reply.fail(ControlError(.usage, "a nonce is 32 hexadecimal digits"))
        return nil
    }

    private func follow(_ parameters: TransferParameters, _ connection: ControlConnection, _ reply: ControlReply) {
        guard let id = EventID(hexadecimal: parameters.transfer) else { return Self.unknown(reply) }
        let isFirst = Locked(true)
        let subscription = session.follow(id).subscribe(
            onNext: { snapshot in
                let view = TransferView(snapshot)
                if isFirst.withLock({ first in
                    defer { first = false }; return first
                }) {
                    reply.succeed(TransferResult(transfer: view))
                    // Said again where it is over, so that a follower always ends with a notification.
                    if snapshot.state.isOver { connection.notify(.transfer(view)) }
                } else {
                    connection.notify(.transfer(view))
                }
            }, onCompleted: { if isFirst.withLock({ $0 }) { Self.unknown(reply) } })
        bag(of: connection).insert(subscription)
    }

    private func cancel(_ parameters: TransferParameters, _ reply: ControlReply) {
        guard let id = EventID(hexadecimal: parameters.transfer) else { return Self.unknown(reply) }
        session.cancel(id)
        reply.succeed(NoFields())
    }

    private static func unknown(_ reply: ControlReply) { reply.fail(ControlError(.usage, "there is no such transfer")) }

    func bag(of connection: ControlConnection) -> DisposeBag {
        bags.withLock { bags in
            if let bag = bags[connection] { return bag }
            let bag = DisposeBag()
            bags[connection] = bag
            return bag
        }
    }

    func read(
        _ reply: ControlReply, _ work: @escaping @Sendable (DaemonHandler) throws -> some Codable & Sendable
    ) {
        reading.async { [self] in
            do {
                reply.succeed(try work(self))
            } catch { reply.fail(error as? ControlError ?? ControlError(describing: error)) }
        }
    }

    /// Those seen since the start as they stand, and those met before as away.
    func allPeers() throws -> [PeerView] {
        let seen = session.peers
        let away = session.knownPeers.filter { known in
            known.peer != session.peer && !seen.contains { $0.peer == known.peer }
        }
        return seen.map(PeerView.init) + away.map(PeerView.init)
    }
}

extension ControlError {
    /// What a session's error means for the client that asked.
    init(describing error: any Error) {
        switch error {
        case SessionError.tooLong, SessionError.empty: self.init(.badData, "\(error)")
        case SessionError.invalid, SessionError.unknownLine: self.init(.usage, SafeText.line("\(error)"))
        case SessionError.foreignCursor: self.init(.foreignCursor, "\(error)")
        case AppendFailure.nonceTaken: self.init(.badData, "\(error)")
        case BlobError.notRegular, BlobError.changed, BlobError.tooLarge: self.init(.noInput, "\(error)")
        case BlobError.full: self.init(.cannotCreate, "\(error)")
        default: self.init(.inputOutput, "\(error)")
        }
    }
}
