import Dispatch
import Identity
import Locking
import Rx
import Transport

/// Answers what peers ask for, each peer's requests in order, and no sooner than what it was sent before has gone out.
///
/// So a peer that asks for much over a slow link is served as fast as it reads, and isn't cut off for what we owe it.
final class Serving<Request: Sendable>: Sendable {
    private struct Line {
        var requests: ArraySlice<Request>
        /// Rises with each line: an answer may still be under way when its peer comes back.
        let number: UInt64
    }

    /// What becomes of a request.
    private enum Way {
        case start(UInt64)
        case wait, refuse
    }

    private struct Lines {
        var waiting: [PeerID: Line] = [:]
        var count: UInt64 = 0
    }

    /// Most bytes that wait for a peer when the next request of its is answered.
    static var queuedBytes: Int { 1 << 20 }
    /// Most requests of one peer that wait; what goes beyond is refused.
    static var longest: Int { 1_024 }

    private let transport: Transport
    private let purpose: LinkPurpose
    private let queue: DispatchQueue
    private let serve: @Sendable (Request, PeerID) -> Void
    private let refuse: @Sendable (Request, PeerID) -> Void
    private let lines = Locked(Lines())
    private let bag = DisposeBag()

    /// - Parameters:
    ///   - transport: Carries the answers.
    ///   - purpose: Over which link the answers go.
    ///   - queue: Where requests are answered.
    ///   - refuse: Sends that there is no answer.
    ///   - serve: Sends the answer to a request.
    init(
        _ transport: Transport, over purpose: LinkPurpose, on queue: DispatchQueue,
        refuse: @escaping @Sendable (Request, PeerID) -> Void, serve: @escaping @Sendable (Request, PeerID) -> Void
    ) {
        self.transport = transport
        self.purpose = purpose
        self.queue = queue
        self.serve = serve
        self.refuse = refuse
        transport.events.subscribe(onNext: { [weak self] event in
            switch event {
            case .linkDown(let peer, _): self?.forget(peer)
            case .blobLinkDown(let peer): if purpose == .blob { self?.forget(peer) }
            default: break
            }
        }).disposed(by: bag)
    }

    /// Answers in its turn; from any thread.
    func add(_ request: Request, of peer: PeerID) {
        let way: Way = lines.withLock { lines in
            guard let count = lines.waiting[peer]?.requests.count else {
                lines.count += 1
                lines.waiting[peer] = Line(requests: [request], number: lines.count)
                return .start(lines.count)
            }
            guard count < Self.longest else { return .refuse }
            lines.waiting[peer]?.requests.append(request)
            return .wait
        }
        switch way {
        case .start(let number): goOn(peer, number)
        case .wait: break
        case .refuse: queue.async { [self] in refuse(request, peer) }
        }
    }

    private func goOn(_ peer: PeerID, _ number: UInt64) {
        transport.whenQueued(to: peer, over: purpose, isAtMost: Self.queuedBytes) { [weak self] in
            guard let self else { return }
            queue.async { self.serveNext(peer, number) }
        }
    }

    /// One request, then others' work on the queue has its turn.
    private func serveNext(_ peer: PeerID, _ number: UInt64) {
        let request: Request? = lines.withLock { lines in
            guard lines.waiting[peer]?.number == number else { return nil }
            if let request = lines.waiting[peer]?.requests.popFirst() { return request }
            lines.waiting[peer] = nil
            return nil
        }
        guard let request else { return }
        serve(request, peer)
        goOn(peer, number)
    }

    /// What a peer asked for over a link that is gone, it asks for again.
    private func forget(_ peer: PeerID) { _ = lines.withLock { $0.waiting.removeValue(forKey: peer) } }
}
