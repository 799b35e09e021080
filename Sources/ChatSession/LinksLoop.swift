import Addressing
import ChatModel
import Dispatch
import Identity
import Locking
import Rx
import Transport

/// Dials, and carries messages to and from peers.
final class LinksLoop: FeedbackLoop {
    private let transport: Transport
    private let admission: CallbackAnswers<PeerID, Bool>
    private let dials = Locked<[DialID: DialNumber]>([:])
    private let failures = PublishSubject<RoomEvent>()
    /// Numbers dials before they can be answered.
    private let queue = DispatchQueue(label: "chat.session.dial")
    /// Looks up hosts, which may take long: each on a thread of its own, so that none waits for another.
    private let lookups = DispatchQueue(label: "chat.session.lookup", attributes: .concurrent)
    /// Places whose lookup has failed, and people were told.
    private let unknown = Locked<Set<String>>([])
    private let notes = PublishSubject<String>()
    private let intake: Intake

    /// `admission` is what `transport` asks whether a peer may link; it gets its answers here.
    init(_ transport: Transport, _ admission: CallbackAnswers<PeerID, Bool>, _ intake: Intake) {
        self.transport = transport
        self.admission = admission
        self.intake = intake
    }

    var events: Observable<RoomEvent> {
        .merge([transport.events.compactMap { [self] in translate($0) }, failures.asObservable()])
    }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {
        switch effect {
        case .dial(let number, .peer(let peer, let endpoints), let replacingSilent):
            queue.async { [self] in dial(number, endpoints, expecting: peer, replacingSilent: replacingSilent) }
        case .dial(let number, .place(let place), _): lookups.async { [self] in dial(number, place) }
        case .dial(let number, .endpoints(let endpoints), _):
            queue.async { [self] in dial(number, endpoints, expecting: nil, replacingSilent: false) }
        case .send(let peer, let messages): transport.send(messages.map(\.frame), to: peer, over: .chat)
        case .sendBlob(let peer, let message): transport.send([message.frame], to: peer, over: .blob)
        case .disconnect(let peer, let reason): transport.disconnect(peer, reason: reason)
        case .expect(let addresses): transport.expect(at: addresses)
        case .admit(let addresses): transport.admit(from: addresses)
        case .shutOut(let peers):
            admission.binder.onNext(Dictionary(uniqueKeysWithValues: peers.map { ($0, false) }))
            transport.askAgainWhoMayLink()
        default: break
        }
    }

    private func dial(_ number: DialNumber, _ endpoints: [Endpoint], expecting peer: PeerID?, replacingSilent: Bool) {
        // Under the lock, so that an answer that is faster than we are finds the number.
        dials.withLock { dials in
            dials[transport.dial(endpoints, expecting: peer, replacingSilent: replacingSilent)] = number
        }
    }

    private func dial(_ number: DialNumber, _ place: String) {
        do {
            let (host, port) = try HostPort.parse(place)
            let endpoints = try Endpoint.resolve(host: host, port: port)
            _ = unknown.withLock { $0.remove(place) }
            transport.expect(at: endpoints.map(\.address))
            queue.async { [self] in dial(number, endpoints, expecting: nil, replacingSilent: false) }
        } catch {
            if unknown.withLock({ $0.insert(place).inserted }) { notes.onNext("\(error); it is tried again") }
            failures.onNext(.dialled(number, .failed("\(error)")))
        }
    }

    private func translate(_ event: TransportEvent) -> RoomEvent? {
        switch event {
        case .linkUp(let peer, let endpoint, let isDialler):
            return .linkUp(peer, endpoint: endpoint, isDialler: isDialler)
        case .frame(let peer, _, let frame):
            do throws(WireError) {
                let message = try SessionMessage(kind: frame.kind, body: frame.body)
                intake.came(message, from: peer)
                return .message(peer, message)
            } catch { return .malformed(peer, error) }
        case .silent(let peer): return .silent(peer)
        case .linkDown(let peer, let end): return .linkDown(peer, LinkEnding(end))
        case .blobLinkDown(let peer): return .blobLinkDown(peer)
        case .dialled(let id, let result):
            return dials.withLock { $0.removeValue(forKey: id) }.map { .dialled($0, DialOutcome(result)) }
        case .clone(let peer, _): return .clone(peer)
        case .refused(let endpoint, let reason):
            notes.onNext("\(endpoint): \(reason)")
            return nil
        }
    }
}

extension SessionMessage {
    var frame: Frame {
        let (kind, body) = encoded
        return Frame(kind: kind, body: body)
    }
}

extension LinkEnding {
    init(_ end: LinkEnd) {
        switch end {
        case .left: self = .left
        case .closed: self = .closed
        case .silent: self = .silent
        case .violated(let how): self = .violated(how)
        }
    }
}

extension DialOutcome {
    init(_ result: DialResult) {
        switch result {
        case .linked(let peer): self = .linked(peer)
        case .failed(let reason, let refused): self = refused ? .refused : .failed(reason)
        }
    }
}
