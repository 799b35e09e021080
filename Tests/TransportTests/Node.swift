import Addressing
import Dispatch
import Glibc
import HostilePeer
import Identity
import Locking
import Rx
import Testing

@testable import Transport

/// A transport that listens, and all that it told.
final class Node: Sendable {
    static let greeting = Frame(kind: 16, body: Array("hello".utf8))
    static let text: UInt8 = 17
    static let textLimit = 64 * 1024

    let room: RoomKey
    let peer: PeerID
    let transport: Transport
    let port: UInt16
    /// Whether a peer may have a link.
    let admission = CallbackAnswers<PeerID, Bool> { _ in true }
    private let told = Locked<[TransportEvent]>([])
    private let news = DispatchSemaphore(value: 0)
    private let bag = DisposeBag()

    init(
        room: RoomKey = RoomKey(openRoom: RoomID(openRoom: "lab")), peer: PeerID = Keyring.newPeer(),
        limits: TransportLimits = .init(),
        on address: ListenAddress = .everywhere(port: 0)
    ) throws {
        self.room = room
        self.peer = peer
        transport = Transport(
            room: room, key: try Keyring.key(of: peer), limits: limits, mayLink: { [admission] in admission($0) },
            greeting: { Node.greeting }
        ) { kind in
            switch kind {
            case 16: 4096
            case Node.text: Node.textLimit
            default: nil
            }
        }
        let (told, news) = (told, news)
        transport.events.subscribe(onNext: { event in
            told.withLock { $0.append(event) }
            news.signal()
        }).disposed(by: bag)
        port = try transport.listen(on: address)
    }

    deinit { transport.close() }

    var endpoint: Endpoint { Endpoint(address: .loopback, port: port) }
    var events: [TransportEvent] { told.withLock { $0 } }

    @discardableResult func dial(_ other: Node, replacingSilent: Bool = false) -> DialID {
        transport.dial([other.endpoint], expecting: other.peer, replacingSilent: replacingSilent)
    }

    /// Waits until what was told fulfils a condition.
    func wait(
        _ limit: DispatchTimeInterval = .seconds(10), at place: SourceLocation = #_sourceLocation,
        until condition: ([TransportEvent]) -> Bool
    ) throws {
        let end = DispatchTime.now() + limit
        while !condition(events) {
            if news.wait(timeout: end) == .timedOut, !condition(events) {
                Issue.record("not within the limit; told: \(events.suffix(12))", sourceLocation: place)
                throw FakePeer.Ended()
            }
        }
    }

    func texts(from other: PeerID, over purpose: LinkPurpose = .chat) -> [[UInt8]] {
        events.compactMap {
            if case .frame(other, purpose, let frame) = $0, frame.kind == Node.text { frame.body } else { nil }
        }
    }

    func send(_ texts: [[UInt8]], to other: PeerID, over purpose: LinkPurpose = .chat) {
        transport.send(texts.map { Frame(kind: Node.text, body: $0) }, to: other, over: purpose)
    }

    func answer(_ answers: [PeerID: Bool]) {
        admission.binder.onNext(answers)
        transport.askAgainWhoMayLink()
    }

    /// Its first link, whatever state it is in.
    var link: Link? { transport.core.queue.sync { transport.core.links.values.first } }

    /// Both ends of each connection that there is, opening and closing ones too.
    var sockets: Set<[UInt16]> {
        transport.core.queue.sync {
            Set(transport.core.links.values.map { [$0.local?.port ?? 0, $0.endpoint.port].sorted() })
        }
    }
}

extension [TransportEvent] {
    func isUp(_ peer: PeerID) -> Bool { contains { if case .linkUp(peer, _, _) = $0 { true } else { false } } }

    func down(_ peer: PeerID) -> [LinkEnd] {
        compactMap { if case .linkDown(peer, let end) = $0 { end } else { nil } }
    }

    func result(of dial: DialID) -> DialResult? {
        compactMap { if case .dialled(dial, let result) = $0 { result } else { nil } }.first
    }

    var refusals: [String] { compactMap { if case .refused(_, let reason) = $0 { reason } else { nil } } }
}

/// Two nodes with a chat link that the first one dialled.
func linkedNodes(_ limits: TransportLimits = .init()) throws -> (Node, Node) {
    let (alice, bob) = (try Node(limits: limits), try Node(limits: limits))
    alice.dial(bob)
    try alice.wait { $0.isUp(bob.peer) }
    try bob.wait { $0.isUp(alice.peer) }
    return (alice, bob)
}

/// Waits for something that no event tells.
func eventually(
    _ limit: Duration = .seconds(10), at place: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        if ContinuousClock.now > end {
            Issue.record("not within the limit", sourceLocation: place)
            throw FakePeer.Ended()
        }
        usleep(2000)
    }
}
