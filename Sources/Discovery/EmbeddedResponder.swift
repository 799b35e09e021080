import CAvahi
import Dispatch
import Identity

/// A multicast DNS stack in this process, beside any other on the host.
///
/// It has a host label of its own, and publishes this host's addresses under that without their reverse records: those
/// belong to the host's own stack, and two that claim one fight over it.
///
/// `@unchecked`: the variables are only touched inside ``AvahiLoop/perform(_:)``.
final class EmbeddedResponder: MulticastDNS, @unchecked Sendable {
    private static let retryDelay = DispatchTimeInterval.seconds(2)
    private static let addressPeriod = DispatchTimeInterval.seconds(2)
    private static let cacheLimit: UInt32 = 65_536  // records an interface: a flood of forged ones must not fill it

    /// Done before the first server: libavahi-core writes to standard error otherwise.
    private static let silence: Void = avahi_set_log_function { _, _ in }

    let name = "embedded mDNS"
    private var announcement: Announcement
    private let isAnnouncing: Bool
    private let report: StackReport
    private let loop: AvahiLoop
    private var host: DNSName
    private var server: (handle: OpaquePointer, context: Unmanaged<StateContext>)?
    private var station: Station?
    private var addresses: Set<InterfaceAddress> = []  // published
    private var isOutdated = false  // an address was gone at the last look
    private var attempt = 0  // counts the servers, so that an old one's state isn't taken for the new one's
    private var isStopped = false

    /// With `isAnnouncing` it announces us; else it only watches, and forged records without end keep no other thread
    /// waiting: libavahi compares each with all others of its name.
    init(_ announcement: Announcement, isAnnouncing: Bool, report: @escaping StackReport) {
        self.announcement = announcement
        self.isAnnouncing = isAnnouncing
        loop = AvahiLoop(isModest: !isAnnouncing)
        host = Self.host(announcement)
        self.report = report
    }

    private static func host(_ announcement: Announcement) -> DNSName {
        DNSName(announcement.concealment?.host ?? "chat-" + randomBytes(8).hexadecimal) + .local
    }

    var isStuck: Bool { loop.isStuck }

    func start() { loop.perform { [self] in open() } }
    /// Begins anew: what a server without groups has published can't be withdrawn, see ``ServerCalls``.
    func announce(_ announcement: Announcement) {
        loop.perform { [self] in
            self.announcement = announcement
            guard isAnnouncing else { return }
            host = Self.host(announcement)
            close()
            open()
        }
    }

    func resolve(_ record: RecordKey) { loop.perform { [self] in station?.resolve(record) } }
    func stopResolving(_ record: RecordKey) { loop.perform { [self] in station?.stopResolving(record) } }
    func check() { loop.perform { [self] in attempted { try station?.check() } } }

    func stop(_ done: @escaping @Sendable () -> Void) {
        loop.perform { [self] in
            isStopped = true
            close()
            done()
        }
    }

    // MARK: The server

    private func open() {
        guard !isStopped, server == nil else { return }
        Self.silence
        attempt += 1
        let context = Unmanaged.passRetained(serverContext(attempt))
        var code: CInt = 0
        guard let made = makeServer(context.toOpaque(), &code) else {
            context.release()
            report(.absent("\(AvahiError(action: "start multicast DNS", code: code))"))
            return openLater()
        }
        server = (made, context)
        report(.answered)
    }

    private func makeServer(_ context: UnsafeMutableRawPointer, _ code: inout CInt) -> OpaquePointer? {
        var configuration = AvahiServerConfig()
        avahi_server_config_init(&configuration)
        defer { avahi_server_config_free(&configuration) }
        configuration.host_name = avahi_strdup(String(decoding: host.labels[0], as: UTF8.self))
        configuration.publish_addresses = 0
        configuration.publish_domain = 0
        configuration.publish_hinfo = 0
        configuration.publish_workstation = 0
        configuration.n_cache_entries_max = Self.cacheLimit
        return loop.begin { avahi_server_new($0, &configuration, didChangeServer, context, &code) }
    }

    private func serverContext(_ attempt: Int) -> StateContext {
        StateContext(loop) { [weak self] state in self?.changed(AvahiServerState(state), of: attempt) }
    }

    private func openLater() { loop.perform(after: Self.retryDelay) { [weak self] in self?.open() } }

    /// Frees everything; the goodbyes leave on the way.
    private func close() {
        guard let server = server.take() else { return }
        loop.end { avahi_server_free(server.handle) }
        server.context.release()
        station.take()?.close()
        addresses = []
        isOutdated = false
    }

    private func changed(_ state: AvahiServerState, of attempt: Int) {
        guard attempt == self.attempt, let server = server?.handle else { return }
        switch state {
        case AVAHI_SERVER_RUNNING: attempted { try serve(server) }
        case AVAHI_SERVER_COLLISION, AVAHI_SERVER_FAILURE: failed(attempt, "the multicast DNS server failed")
        default: break
        }
    }

    private func serve(_ server: OpaquePointer) throws(AvahiError) {
        guard station == nil else { return }
        let fail: @Sendable (String) -> Void = { [weak self, attempt] in self?.failed(attempt, $0) }
        let station = Station(ServerCalls(server: server), loop: loop, announcement: announcement, isCounting: false) {
            [report, loop] event in
            guard case .wentAway(let why) = event else { return report(event) }
            loop.perform { fail(why) }
        }
        self.station = station
        if isAnnouncing {
            publishAddresses(server)
            try station.publish(host: host, domain: .local)
            followAddresses(attempt)
        }
        try station.browse()
    }

    private func failed(_ attempt: Int, _ why: String) {
        guard attempt == self.attempt, server != nil else { return }
        report(.wentAway(why))
        close()
        openLater()
    }

    private func attempted(_ body: () throws -> Void) {
        do { try body() } catch { failed(attempt, "multicast DNS: \(error)") }
    }

    // MARK: Addresses

    /// Looks every 2 s, as long as this server runs.
    ///
    /// A published address can't be withdrawn alone, see ``ServerCalls``: for that all begins anew.
    private func followAddresses(_ attempt: Int) {
        loop.perform(after: Self.addressPeriod) { [weak self] in
            guard let self, attempt == self.attempt, let server = server?.handle else { return }
            if hasLostAddress() {
                close()
                return open()
            }
            publishAddresses(server)
            followAddresses(attempt)
        }
    }

    /// Publishes the addresses that are new, each on its own interface; what can't be is tried with the next look.
    private func publishAddresses(_ server: OpaquePointer) {
        let flags = AvahiPublishFlags(AVAHI_PUBLISH_NO_REVERSE.rawValue | AVAHI_PUBLISH_NO_PROBE.rawValue)
        for new in InterfaceAddress.current().subtracting(addresses) {
            var value = new.address.avahi
            let code = avahi_server_add_address(
                server, nil, new.interface, CAvahi_anyProtocol, flags, host.text, &value)
            if code == 0 { addresses.insert(new) }
        }
    }

    /// Whether an address has been missing at two looks from an interface that has others: those of one that is down
    /// are silent anyway, and mostly come back.
    private func hasLostAddress() -> Bool {
        let current = InterfaceAddress.current()
        let interfaces = Set(current.map(\.interface))
        let isMissing = addresses.subtracting(current).contains { interfaces.contains($0.interface) }
        defer { isOutdated = isMissing }
        return isMissing && isOutdated
    }
}
