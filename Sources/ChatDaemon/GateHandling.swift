import ChatModel
import ChatSession
import Control
import Dispatch
import Glibc
import Identity
import Rx

/// Who is who, and who gets in.
extension DaemonHandler {
    func handle(_ call: GateCall, _ reply: ControlReply) {
        switch call {
        case .decide(let parameters): reading.async { [self] in decide(parameters, reply) }
        case .verifyPeer(let parameters): read(reply) { try $0.verify(parameters.peer) }
        case .status: read(reply) { $0.status() }
        }
    }

    private func decide(_ parameters: DecideParameters, _ reply: ControlReply) {
        guard let decision = PeerDecision(rawValue: parameters.decision) else {
            let words = PeerDecision.allCases.map(\.rawValue).joined(separator: ", ")
            return reply.fail(ControlError(.usage, "a decision is one of \(words)"))
        }
        do {
            let isAtDoor = decision == .accept || decision == .refuse
            let (peer, result) = try find(parameters.peer, onlyWaiting: isAtDoor)
            _ = session.decide(peer, decision).subscribe(
                onError: { reply.fail(ControlError(describing: $0)) }, onCompleted: { reply.succeed(result) })
        } catch { reply.fail(error as? ControlError ?? ControlError(describing: error)) }
    }

    private func verify(_ word: String) throws -> VerifyPeerResult {
        let (peer, result) = try find(word, onlyWaiting: false)
        return VerifyPeerResult(
            peer: result.peer, name: result.name, suffix: result.suffix,
            code: PairCode.text(of: session.peer, and: peer))
    }

    private func status() -> StatusResult {
        let peers = session.peers.filter { $0.state == .connected }.map { status in
            let load = session.load(of: status.peer)
            return StatusResult.Peer(
                peer: status.peer.description, name: status.name, suffix: status.peer.suffix, queued: load.queued,
                inHand: load.inHand, isPaused: load.isPaused)
        }
        return StatusResult(
            pid: Int(getpid()), room: session.room, name: session.displayName, peer: session.peer.description,
            port: Int(facts.port), discovery: session.discoveryProvider.value ?? "none",
            admission: facts.admission.rawValue, peers: peers, uptime: started.duration(to: .now).milliseconds,
            memory: ProcessFigures.memory, descriptors: ProcessFigures.descriptors, threads: ProcessFigures.threads,
            history: ProcessFigures.length(ofFilesIn: facts.stateDirectory, beginning: "history.db"),
            blobs: ProcessFigures.length(ofFilesIn: "\(facts.stateDirectory)/blobs"),
            stateDirectory: facts.stateDirectory, troubles: session.storageTroubles)
    }

    /// - Throws: ``Control/ControlError`` with the candidates, when nobody or several can be meant.
    private func find(_ word: String, onlyWaiting: Bool) throws -> (PeerID, PeerResult) {
        let views = try allPeers().filter { !onlyWaiting || $0.state == .waiting }
        let names = views.reduce(into: [PeerID: String]()) { names, view in
            if let peer = PeerID(view.peer) { names[peer] = view.name }
        }
        let shown = SafeText.name(word)
        switch PeerQuery.find(word, among: names) {
        case .one(let peer) where !onlyWaiting || names[peer] != nil:
            guard peer != session.peer else { throw ControlError(.usage, "'\(shown)' is this host itself") }
            let name = names[peer] ?? peer.suffix
            return (peer, PeerResult(peer: peer.description, name: name, suffix: peer.suffix))
        case .several(let peers):
            let list = PeerQuery.list(peers, names: names)
            throw ControlError(.usage, "'\(shown)' may be \(list); say more digits of the key")
        case .one, .nobody:
            let known = names.isEmpty ? "" : ": \(PeerQuery.list(names.keys.sorted(), names: names))"
            let who = onlyWaiting ? "nobody is waiting under '\(shown)'" : "'\(shown)' is nobody known here"
            throw ControlError(.usage, who + known)
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
