import CAvahi
import Dispatch

/// The advert, the browser and the resolvers on one running stack.
///
/// `@unchecked`: everything is only touched inside ``AvahiLoop/perform(_:)``. The C objects are freed with the client or
/// server that they are of; ``close()`` follows that and lets go of their callbacks' contexts.
final class Station: @unchecked Sendable {
    private typealias Watcher = (handle: OpaquePointer, context: Unmanaged<StackContext>)

    private let calls: any AvahiCalls
    private let groups: (any AvahiGroups)?
    private let loop: AvahiLoop
    private var announcement: Announcement
    private let report: StackReport
    private var group: (handle: OpaquePointer, context: Unmanaged<StateContext>)?
    private var browser: Watcher?
    /// Of the instances of all rooms.
    private var counter: Watcher?
    private let crowd = Crowd()
    private let isCounting: Bool
    private var resolvers: [RecordKey: Watcher] = [:]
    private var names: (host: DNSName, domain: DNSName)?
    private var addresses: Set<InterfaceAddress> = []  // published under a concealed label
    private var collisions = 0
    private var publication = 0  // counts the groups, so that an old one's state isn't taken for the new one's

    /// With `isCounting` it tells when there are too many instances to be true.
    init(
        _ calls: any AvahiCalls, loop: AvahiLoop, announcement: Announcement, isCounting: Bool,
        report: @escaping StackReport
    ) {
        self.calls = calls
        self.isCounting = isCounting
        groups = calls as? any AvahiGroups
        self.loop = loop
        self.announcement = announcement
        self.report = report
    }

    // MARK: Announcing

    /// Puts the advert out, in place of an earlier one.
    ///
    /// Nobody else can hold a name with digits of our key in it, so there is no probing: that takes 130 ms in place of 900.
    func publish(host: DNSName, domain: DNSName) throws(AvahiError) {
        unpublish()
        names = (host, domain)
        try makeGroup()
        try publishAddresses(host)
        let instance =
            announcement.concealment?.instance
            ?? InstanceName.make(
                displayName: announcement.displayName, peer: announcement.peer,
                digits: InstanceName.digits(afterCollisions: collisions))
        for record in AdvertRecords.make(announcement, instance: instance, host: host, domain: domain) {
            let code = calls.add(record, flags: record.isUnique ? Self.unique : AvahiPublishFlags(0), to: group?.handle)
            if code == CInt(AVAHI_ERR_COLLISION) { return collided() }
            if code < 0 { throw AvahiError(action: "announce \(record.name.text)", code: code) }
        }
        guard let group, let groups else { return report(.announced) }
        let code = groups.commit(group.handle)
        if code < 0 { throw AvahiError(action: "announce", code: code) }
    }

    /// What ``publish(host:domain:)`` puts out from now on.
    func announce(_ announcement: Announcement) { self.announcement = announcement }

    /// Gives a concealed host label its addresses; the stack knows those of the host's own name alone.
    private func publishAddresses(_ host: DNSName) throws(AvahiError) {
        addresses = []
        guard announcement.concealment != nil, let groups, let group else { return }
        addresses = InterfaceAddress.current()
        for address in addresses {
            let code = groups.add(address, of: host, to: group.handle)
            if code < 0 { throw AvahiError(action: "announce an address", code: code) }
        }
    }

    /// Withdraws the advert.
    func unpublish() {
        guard let groups, let group = group.take() else { return }
        groups.freeGroup(group.handle)
        group.context.release()
    }

    /// Puts the advert out again if the stack has lost it.
    func check() throws(AvahiError) {
        guard let groups, let group, let names else { return }
        let isEmpty = groups.isEmpty(group.handle)
        if isEmpty < 0 { throw AvahiError(action: "check the announcement", code: isEmpty) }
        let isOutdated = announcement.concealment != nil && addresses != InterfaceAddress.current()
        if isEmpty > 0 || isOutdated { try publish(host: names.host, domain: names.domain) }
    }

    private static let unique = AvahiPublishFlags(AVAHI_PUBLISH_UNIQUE.rawValue | AVAHI_PUBLISH_NO_PROBE.rawValue)

    private func makeGroup() throws(AvahiError) {
        guard let groups else { return }
        publication += 1
        let context = Unmanaged.passRetained(groupContext(publication))
        guard let handle = groups.makeGroup(context.toOpaque()) else {
            context.release()
            throw AvahiError(action: "announce", code: calls.lastError)
        }
        group = (handle, context)
    }

    private func groupContext(_ publication: Int) -> StateContext {
        StateContext(loop) { [weak self] state in self?.groupChanged(AvahiEntryGroupState(state), of: publication) }
    }

    private func groupChanged(_ state: AvahiEntryGroupState, of publication: Int) {
        guard publication == self.publication, group != nil else { return }
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: report(.announced)
        case AVAHI_ENTRY_GROUP_COLLISION: collided()
        case AVAHI_ENTRY_GROUP_FAILURE: report(.wentAway("the announcement failed"))
        default: break
        }
    }

    /// Somebody has our name: goes by a longer one, at once at first, then ever more slowly.
    private func collided() {
        unpublish()
        collisions += 1
        let delay = collisions == 1 ? 0 : 1 << min(collisions, 6)
        loop.perform(after: .seconds(delay)) { [weak self] in self?.publishAgain() }
    }

    private func publishAgain() {
        guard let names, group == nil, browser != nil else { return }
        do { try publish(host: names.host, domain: names.domain) } catch { report(.wentAway("\(error)")) }
    }

    // MARK: Browsing

    /// Watches the room's instances, and if that is wanted counts those of all rooms; once.
    func browse() throws(AvahiError) {
        guard browser == nil else { return }
        report(.browsing)
        if announcement.concealment != nil {
            browser = try browse(AdvertRecords.serviceType) { [crowd, isCounting, report] event in
                report(event)
                if isCounting, crowd.note(event) { report(.crowded) }
            }
        } else {
            browser = try browse(AdvertRecords.subtype(room: announcement.room), report)
            if isCounting { try count() }
        }
    }

    /// Until there are too many: each question names all that are known, and each stack that hears it compares each of
    /// them with all others.
    private func count() throws(AvahiError) {
        counter = try browse(AdvertRecords.serviceType) { [weak self, loop, crowd, report] event in
            if case .wentAway = event { report(event) }
            guard crowd.note(event) else { return }
            report(.crowded)
            loop.perform { [weak self] in self?.stopCounting() }
        }
    }

    private func stopCounting() {
        guard let counter = counter.take() else { return }
        calls.freeBrowser(counter.handle)
        counter.context.release()
    }

    private func browse(_ type: String, _ report: @escaping StackReport) throws(AvahiError) -> Watcher {
        let context = Unmanaged.passRetained(StackContext(report: report))
        guard let handle = calls.makeBrowser(type, context.toOpaque()) else {
            context.release()
            throw AvahiError(action: "browse", code: calls.lastError)
        }
        return (handle, context)
    }

    /// Follows a record's address, port and text until ``stopResolving(_:)``.
    func resolve(_ record: RecordKey) {
        guard resolvers[record] == nil else { return }
        let context = Unmanaged.passRetained(StackContext(record, report: report))
        let name = String(decoding: record.instance, as: UTF8.self)
        guard let handle = calls.makeResolver(record, name, context.toOpaque()) else {
            context.release()
            return report(.unresolved(record))
        }
        resolvers[record] = (handle, context)
    }

    func stopResolving(_ record: RecordKey) {
        guard let resolver = resolvers.removeValue(forKey: record) else { return }
        calls.freeResolver(resolver.handle)
        resolver.context.release()
    }

    /// Lets go of the callbacks' contexts, after client or server is freed and everything of it.
    func close() {
        group.take()?.context.release()
        browser.take()?.context.release()
        counter.take()?.context.release()
        for resolver in resolvers.values { resolver.context.release() }
        resolvers = [:]
    }
}
