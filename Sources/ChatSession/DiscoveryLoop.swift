import ChatModel
import Discovery
import Locking
import Rx

/// Announces this host, and tells of others.
final class DiscoveryLoop: FeedbackLoop {
    /// The provider at work; `nil` until one answers.
    let provider = BehaviorRelay<String?>(value: nil)
    /// What we are announced as, for our greeting.
    let instance: Locked<String>
    private let mode: DiscoveryMode
    private let findings = PublishSubject<RoomEvent>()
    private let notes = PublishSubject<String>()
    private let running = SerialDisposable()

    init(mode: DiscoveryMode, instance: Locked<String>) {
        self.mode = mode
        self.instance = instance
    }

    var events: Observable<RoomEvent> { findings.asObservable() }

    /// Lines for the log.
    var log: Observable<String> { notes.asObservable() }

    func perform(_ effect: RoomEffect) {}

    /// Announces, and browses until ``stop()``.
    func start(_ announcement: Announcement) {
        running.disposable = Discovery.run(announcement, mode: mode).subscribe(onNext: { [weak self] event in
            self?.take(event)
        })
    }

    /// Withdraws the announcement; takes up to a second.
    func stop() { running.dispose() }

    private func take(_ event: DiscoveryEvent) {
        switch event {
        case .using(let name): provider.accept(name)
        case .trouble(let line): notes.onNext(line)
        case .found(let peer, let instance, let endpoints):
            findings.onNext(.found(peer, instance: instance, endpoints: endpoints))
        case .lost(let peer): findings.onNext(.lost(peer))
        case .sighted(let instance, let endpoints):
            findings.onNext(.sighted(instance: instance, endpoints: endpoints))
        case .renamed(let name): instance.withLock { $0 = name }
        case .vanished(let instance): findings.onNext(.vanished(instance: instance))
        }
    }
}
