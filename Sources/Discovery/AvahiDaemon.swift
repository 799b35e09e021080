import CAvahi
import Dispatch

/// The host's avahi-daemon, over D-Bus.
///
/// `@unchecked`: the variables are only touched inside ``AvahiLoop/perform(_:)``.
final class AvahiDaemon: MulticastDNS, @unchecked Sendable {
    private static let retryDelay = DispatchTimeInterval.seconds(2)
    /// An answer that took longer than this many nanoseconds came from D-Bus in place of a hung daemon.
    private static let longestRefusal: UInt64 = 5_000_000_000

    let name = "avahi-daemon"
    private var announcement: Announcement
    private let report: StackReport
    private let loop = AvahiLoop()
    private var client: (handle: OpaquePointer, context: Unmanaged<StateContext>)?
    private var station: Station?
    private var attempt = 0  // counts the clients, so that an old one's state isn't taken for the new one's
    private var isStopped = false

    init(_ announcement: Announcement, report: @escaping StackReport) {
        self.announcement = announcement
        self.report = report
    }

    var isStuck: Bool { loop.isStuck }

    func start() { loop.perform { [self] in connect() } }
    func announce(_ announcement: Announcement) {
        loop.perform { [self] in
            self.announcement = announcement
            guard let client = client?.handle, let station else { return }
            station.announce(announcement)
            if avahi_client_get_state(client) == AVAHI_CLIENT_S_RUNNING {
                attempted { try serve(client, isNamed: true) }
            }
        }
    }

    func resolve(_ record: RecordKey) { loop.perform { [self] in station?.resolve(record) } }
    func stopResolving(_ record: RecordKey) { loop.perform { [self] in station?.stopResolving(record) } }
    func check() { loop.perform { [self] in attempted { try station?.check() } } }

    func stop(_ done: @escaping @Sendable () -> Void) {
        loop.perform { [self] in
            isStopped = true
            station?.unpublish()
            disconnect()
            done()
        }
    }

    // MARK: Connecting

    private func connect() {
        guard !isStopped, client == nil else { return }
        attempt += 1
        let context = Unmanaged.passRetained(clientContext(attempt))
        var code: CInt = 0
        let began = DispatchTime.now().uptimeNanoseconds
        let made = loop.begin {
            avahi_client_new($0, AVAHI_CLIENT_NO_FAIL, didChangeClient, context.toOpaque(), &code)
        }
        guard let made else {
            context.release()
            report(.absent("\(AvahiError(action: "connect to avahi-daemon", code: code))"))
            return connectLater()
        }
        client = (made, context)
        let isRefused = avahi_client_get_state(made) == AVAHI_CLIENT_CONNECTING
        if isRefused, DispatchTime.now().uptimeNanoseconds - began > Self.longestRefusal { rebuild() }
    }

    private func clientContext(_ attempt: Int) -> StateContext {
        StateContext(loop) { [weak self] state in self?.changed(AvahiClientState(state), of: attempt) }
    }

    private func connectLater() { loop.perform(after: Self.retryDelay) { [weak self] in self?.connect() } }

    /// Frees client, group, browser and resolvers: what the daemon's end or a failed call leaves can't be used again.
    private func disconnect() {
        guard let client = client.take() else { return }
        loop.end { avahi_client_free(client.handle) }
        client.context.release()
        station.take()?.close()
    }

    private func rebuild() {
        disconnect()
        connectLater()
    }

    // MARK: States

    private func changed(_ state: AvahiClientState, of attempt: Int) {
        guard attempt == self.attempt, let client = client?.handle else { return }
        switch state {
        case AVAHI_CLIENT_CONNECTING: report(.absent("no avahi-daemon on this host"))
        case AVAHI_CLIENT_FAILURE:
            report(.wentAway("avahi-daemon went away"))
            disconnect()
            connect()
        case AVAHI_CLIENT_S_RUNNING: attempted { try serve(client, isNamed: true) }
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: attempted { try serve(client, isNamed: false) }
        default: break
        }
    }

    /// Announces and browses; while the daemon looks for another host name, nothing can be announced.
    private func serve(_ client: OpaquePointer, isNamed: Bool) throws(AvahiError) {
        report(.answered)
        let station = station ?? makeStation(client)
        self.station = station
        if isNamed {
            guard let host = avahi_client_get_host_name_fqdn(client).flatMap({ DNSName(parsing: String(cString: $0)) }),
                let domain = avahi_client_get_domain_name(client).flatMap({ DNSName(parsing: String(cString: $0)) })
            else { throw AvahiError(action: "ask for the host's name", code: avahi_client_errno(client)) }
            let concealed = announcement.concealment.map { DNSName($0.host) + domain }
            try station.publish(host: concealed ?? host, domain: domain)
        } else {
            station.unpublish()
        }
        try station.browse()
    }

    private func makeStation(_ client: OpaquePointer) -> Station {
        let fail: @Sendable (String) -> Void = { [weak self, attempt] in self?.failed(attempt, $0) }
        return Station(ClientCalls(client: client), loop: loop, announcement: announcement, isCounting: true) {
            [report, loop] event in
            guard case .wentAway(let why) = event else { return report(event) }
            loop.perform { fail(why) }
        }
    }

    private func failed(_ attempt: Int, _ why: String) {
        guard attempt == self.attempt, client != nil else { return }
        report(.wentAway("avahi-daemon: \(why)"))
        rebuild()
    }

    private func attempted(_ body: () throws -> Void) {
        do { try body() } catch { failed(attempt, "\(error)") }
    }
}
