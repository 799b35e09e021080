package import Identity

/// From a connection's first byte to both sides' knowing who the other is and that it may be in the room.
///
/// Ciphertext in, steps and ciphertext out; no socket, no clock. First the TLS handshake, then the dialler's proof, then
/// the acceptor's. Until the dialler's proof is verified the acceptor says nothing but its half of the handshake, and
/// whatever is wrong ends the connection without a word, at once.
///
/// `@unchecked`: used by one thread at a time (``HandshakeQueue``).
package final class Opening: @unchecked Sendable {
    package enum Step: Equatable {
        case wait
        /// The peer has proven who it is and that it holds the room's key.
        case opened(PeerID)
        case refuse(OpeningRefusal)
    }

    /// What bytes led to, and what goes out next.
    package struct Progress {
        package var step: Step
        package var output: [UInt8]
    }

    let stream: any SecureStream
    private let key: RoomKey
    private let own: PeerID
    private let isDialler: Bool
    private var peer: PeerID?
    private var proof: RoomProof?
    private var received: [UInt8] = []
    private var first: [UInt8] = []

    package init(_ stream: any SecureStream, key: RoomKey, own: PeerID, isDialler: Bool) {
        self.stream = stream
        self.key = key
        self.own = own
        self.isDialler = isDialler
    }

    /// Takes the next bytes; none, for the dialler to begin.
    package func feed(_ bytes: [UInt8]) -> Progress {
        guard isRecord(bytes) else { return Progress(step: .refuse(.notAPeer("no TLS")), output: []) }
        bytes.withUnsafeBytes { stream.feed($0) }
        let step = advance()
        return Progress(step: step, output: stream.takeOutput())
    }

    /// Whether what came begins as a record of a handshake (RFC 8446, 5.1): OpenSSL waits for more before it looks.
    private func isRecord(_ bytes: [UInt8]) -> Bool {
        first += bytes.prefix(2 - first.count)
        return first.elementsEqual([22, 3].prefix(first.count))
    }

    private func advance() -> Step {
        guard let peer, let proof else { return shakeHands() }
        return readProof(of: peer, proof)
    }

    private func shakeHands() -> Step {
        switch stream.handshake() {
        case .wait: return .wait
        case .refused(let refusal): return .refuse(refusal)
        case .done(let peer):
            let proof = RoomProof(
                key, exported: stream.exportedKey(), initiator: isDialler ? own : peer,
                responder: isDialler ? peer : own)
            (self.peer, self.proof) = (peer, proof)
            if isDialler { proof.initiator.withUnsafeBytes { stream.write($0) } }
            // It still gets our proof: a second process of ours is to learn of us as we do of it.
            if isDialler, peer == own { return .refuse(.ourself) }
            return readProof(of: peer, proof)
        }
    }

    /// The proof is judged when all of it is there, in a time that doesn't depend on what it is.
    private func readProof(of peer: PeerID, _ proof: RoomProof) -> Step {
        while received.count < RoomProof.length {
            var part = [UInt8](repeating: 0, count: RoomProof.length - received.count)
            switch part.withUnsafeMutableBytes({ stream.read(into: $0) }) {
            case .bytes(let count): received += part.prefix(count)
            case .wait: return .wait
            case .end: return .refuse(.notAPeer("it ended the connection"))
            case .failed(let reason): return .refuse(.notAPeer(reason))
            }
        }
        guard HMAC.areEqual(received, isDialler ? proof.responder : proof.initiator) else { return .refuse(.noProof) }
        if peer == own { return .refuse(.ourself) }
        if !isDialler { proof.responder.withUnsafeBytes { stream.write($0) } }
        return .opened(peer)
    }
}

/// Why a connection ended in its opening.
package enum OpeningRefusal: Equatable, Sendable, CustomStringConvertible {
    /// What the TLS handshake failed with.
    case notAPeer(String)
    case certificate(CertificateProblem)
    /// The key isn't that of the peer that we dialled.
    case anotherPeer(PeerID)
    /// It is in another room, or has another key for this one.
    case noProof
    case ourself
    /// Too many bytes for an opening.
    case tooLong

    package var description: String {
        switch self {
        case .notAPeer(let reason): "not a groupchat peer: \(reason)"
        case .certificate(let problem): "not a groupchat peer: \(problem)"
        case .anotherPeer(let peer): "another peer answers, \(peer.suffix)"
        case .noProof: "no proof that it is in this room"
        case .ourself: "our own PeerID"
        case .tooLong: "not a groupchat peer: it says too much"
        }
    }
}
