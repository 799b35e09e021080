import CAvahi

/// What libavahi-client and libavahi-core have in common.
///
/// Only called inside ``AvahiLoop/perform(_:)``.
protocol AvahiCalls {
    var lastError: CInt { get }
    /// Publishes a record; without a group, which it could be withdrawn with, it lasts as long as the stack.
    func add(_ record: RawRecord, flags: AvahiPublishFlags, to group: OpaquePointer?) -> CInt
    func makeBrowser(_ type: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer?
    func freeBrowser(_ browser: OpaquePointer)
    func makeResolver(_ record: RecordKey, _ name: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer?
    func freeResolver(_ resolver: OpaquePointer)
}

/// Records that can be withdrawn together: libavahi-client only.
protocol AvahiGroups {
    func makeGroup(_ context: UnsafeMutableRawPointer) -> OpaquePointer?
    func freeGroup(_ group: OpaquePointer)
    /// 0 or 1, or an error.
    func isEmpty(_ group: OpaquePointer) -> CInt
    func commit(_ group: OpaquePointer) -> CInt
    /// Publishes an address of this host's under another label than its own.
    func add(_ address: InterfaceAddress, of host: DNSName, to group: OpaquePointer) -> CInt
}

/// Through avahi-daemon, over D-Bus: every call waits for the daemon's answer.
struct ClientCalls: AvahiCalls, AvahiGroups {
    let client: OpaquePointer

    var lastError: CInt { avahi_client_errno(client) }

    func makeGroup(_ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi_entry_group_new(client, didChangeGroup, context)
    }
    func freeGroup(_ group: OpaquePointer) { avahi_entry_group_free(group) }
    func isEmpty(_ group: OpaquePointer) -> CInt { avahi_entry_group_is_empty(group) }
    func commit(_ group: OpaquePointer) -> CInt { avahi_entry_group_commit(group) }

    func add(_ address: InterfaceAddress, of host: DNSName, to group: OpaquePointer) -> CInt {
        var value = address.address.avahi
        let flags = AvahiPublishFlags(AVAHI_PUBLISH_NO_REVERSE.rawValue | AVAHI_PUBLISH_NO_PROBE.rawValue)
        return avahi_entry_group_add_address(
            group, address.interface, CAvahi_anyProtocol, flags, host.text, &value)
    }

    func add(_ record: RawRecord, flags: AvahiPublishFlags, to group: OpaquePointer?) -> CInt {
        avahi_entry_group_add_record(
            group, CAvahi_anyInterface, CAvahi_anyProtocol, flags, record.name.text, CAvahi_classInternet,
            record.kind.rawValue, record.lifetime, record.data, record.data.count)
    }

    func makeBrowser(_ type: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi_service_browser_new(
            client, CAvahi_anyInterface, CAvahi_anyProtocol, type, nil, AvahiLookupFlags(0), didBrowse, context)
    }
    func freeBrowser(_ browser: OpaquePointer) { avahi_service_browser_free(browser) }

    func makeResolver(_ record: RecordKey, _ name: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi_service_resolver_new(
            client, record.interface, record.family.code, name, AdvertRecords.serviceType, nil, record.family.code,
            AvahiLookupFlags(0), didResolve, context)
    }
    func freeResolver(_ resolver: OpaquePointer) { avahi_service_resolver_free(resolver) }
}

/// In this process.
///
/// Without groups: libavahi-client and libavahi-core both export `avahi_entry_group_free` and mean different things. With
/// libavahi-client first in the link order, libavahi-core calls the wrong one when it frees a group.
struct ServerCalls: AvahiCalls {
    let server: OpaquePointer

    var lastError: CInt { avahi_server_errno(server) }

    func add(_ record: RawRecord, flags: AvahiPublishFlags, to group: OpaquePointer?) -> CInt {
        let made = avahi_record_new_full(
            record.name.text, CAvahi_classInternet, record.kind.rawValue, record.lifetime)
        guard let made else { return CInt(AVAHI_ERR_NO_MEMORY) }
        defer { avahi_record_unref(made) }
        guard avahi_rdata_parse(made, record.data, record.data.count) == 0 else {
            return CInt(AVAHI_ERR_INVALID_RECORD)
        }
        return avahi_server_add(server, group, CAvahi_anyInterface, CAvahi_anyProtocol, flags, made)
    }

    func makeBrowser(_ type: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi_s_service_browser_new(
            server, CAvahi_anyInterface, CAvahi_anyProtocol, type, nil, AvahiLookupFlags(0), didBrowse, context)
    }
    func freeBrowser(_ browser: OpaquePointer) { avahi_s_service_browser_free(browser) }

    func makeResolver(_ record: RecordKey, _ name: String, _ context: UnsafeMutableRawPointer) -> OpaquePointer? {
        avahi_s_service_resolver_new(
            server, record.interface, record.family.code, name, AdvertRecords.serviceType, nil, record.family.code,
            AvahiLookupFlags(0), didResolve, context)
    }
    func freeResolver(_ resolver: OpaquePointer) { avahi_s_service_resolver_free(resolver) }
}

extension RecordKey.Family {
    var code: AvahiProtocol {
        switch self {
        case .v4: CAvahi_ipv4
        case .v6: CAvahi_ipv6
        }
    }

    init?(_ code: AvahiProtocol) {
        switch code {
        case CAvahi_ipv4: self = .v4
        case CAvahi_ipv6: self = .v6
        default: return nil
        }
    }
}
