import Addressing
import ChatModel
import Dispatch
import Identity
import Locking
import Rx
import Transport

/// Says where this host can be dialled, and verifies what members say of others.
final class HintsLoop: FeedbackLoop {
    private static let lookPeriod = RxTimeInterval.seconds(2)
    /// How old our own word may become, in milliseconds: others believe it for a week.
    private static let freshFor: UInt64 = 86_400_000

    private struct Own {
        var endpoints: [Endpoint] = []
        var counter: UInt64 = 0
    }

    private let room: RoomID
    private let key: SigningKey
    private let intake: Intake
    private let queue = DispatchQueue(label: "chat.session.hints")
    private let own = Locked(Own())
    private let looking = SerialDisposable()
    private let results = PublishSubject<RoomEvent>()

    init(room: RoomID, key: SigningKey, _ intake: Intake) {
        self.room = room
        self.key = key
        self.intake = intake
    }

    var events: Observable<RoomEvent> { results.asObservable() }

    func perform(_ effect: RoomEffect) {
        guard case .verify(let hints, let sender) = effect else { return }
        queue.async { [self] in
            let genuine = hints.compactMap { hint in hint.author(in: room).map { ($0, hint) } }
            results.onNext(.hinted(by: sender, Dictionary(genuine) { $0.counter < $1.counter ? $1 : $0 }))
            intake.done(.hints(Hints(hints: hints)), from: sender)
        }
    }

    /// Looks where we are, now and from time to time, until ``stop()``.
    ///
    /// - Parameters:
    ///   - address: Where we wait for peers; `nil` for everywhere.
    ///   - port: The port that we got.
    func start(on address: ListenAddress?, port: UInt16) {
        let scheduler = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "chat.session.hints.serial")
        looking.disposable = Observable<Int>.timer(.milliseconds(0), period: Self.lookPeriod, scheduler: scheduler)
            .subscribe(onNext: { [weak self] _ in self?.look(address, port) })
    }

    func stop() { looking.dispose() }

    private func look(_ address: ListenAddress?, _ port: UInt16) {
        let endpoints =
            if case .only(let endpoint) = address {
                [Endpoint(address: endpoint.address, port: port)]
            } else {
                Transport.ownAddresses().map { Endpoint(address: $0, port: port) }
            }
        let counter: UInt64? = own.withLock { own in
            let now = Clock.wall
            guard own.endpoints != endpoints || own.counter + Self.freshFor < now else { return nil }
            own.endpoints = endpoints
            own.counter = max(own.counter + 1, now)
            return own.counter
        }
        guard let counter else { return }
        results.onNext(.ownHint(PeerHint(signing: endpoints, counter: counter, in: room, by: key)))
    }
}
