import Identity

/// A DNS record as both libraries take it.
struct RawRecord: Equatable, Sendable {
    enum Kind: UInt16 {
        case pointer = 12, text = 16, service = 33  // RFC 1035, 3.2.2; RFC 2782
    }

    var name: DNSName
    var kind: Kind
    var lifetime: UInt32  // seconds
    var data: [UInt8]

    /// Whether nobody else may have records of this name and kind (RFC 6762, 2).
    var isUnique: Bool { kind != .pointer }
}

/// The records that announce a peer.
enum AdvertRecords {
    static let service = DNSName("_groupchat", "_tcp")
    static let serviceType = "_groupchat._tcp"

    private static let lifetime: UInt32 = 4500  // seconds (RFC 6762, 10)
    private static let hostLifetime: UInt32 = 120  // seconds; for records that name a host

    /// The DNS-SD subtype of a room, as browsers take it.
    static func subtype(room: String) -> String { "_\(room)._sub.\(serviceType)" }

    /// What to browse for: a keyed room has no subtype.
    static func type(_ announcement: Announcement) -> String {
        announcement.concealment == nil ? subtype(room: announcement.room) : serviceType
    }

    /// The records of an instance in a domain, as a rule `local`, on a host with that full name.
    static func make(_ announcement: Announcement, instance: String, host: DNSName, domain: DNSName) -> [RawRecord] {
        let type = service + domain
        let owner = DNSName(labels: [Array(instance.utf8)]) + type
        var pointers = [(DNSName("_services", "_dns-sd", "_udp") + domain, type), (type, owner)]
        if announcement.concealment == nil {
            pointers.append((DNSName("_\(announcement.room)", "_sub") + type, owner))
        }
        let strings = AdvertText.strings(announcement)
        return pointers.map { RawRecord(name: $0, kind: .pointer, lifetime: lifetime, data: $1.wire) } + [
            RawRecord(
                name: owner, kind: .service, lifetime: hostLifetime,
                data: serviceData(port: announcement.port, host: host)),
            RawRecord(
                name: owner, kind: .text, lifetime: lifetime, data: strings.flatMap { [UInt8($0.count)] + $0 }),
        ]
    }

    /// Priority and weight 0, then port and target (RFC 2782).
    private static func serviceData(port: UInt16, host: DNSName) -> [UInt8] {
        var data: [UInt8] = [0, 0, 0, 0]
        data.append(bigEndian: port)
        return data + host.wire
    }
}
