import Addressing
import Identity
import Testing

@testable import Discovery

/// Adverts of keyed rooms.
struct ConcealmentTests {
    private let key: RoomKey
    private let own: Concealment
    private let other: Concealment
    private let place = Endpoint(address: .v4(0x0a00_0002), port: 7311)

    init() throws {
        key = try #require(RoomKey(room: RoomID(openRoom: "lab"), secret: randomBytes(RoomKey.length)))
        own = Concealment(key)
        other = Concealment(key)
    }

    private func announcement(_ concealment: Concealment) -> Announcement {
        Announcement(displayName: "alice", room: "lab", peer: SigningKey().peer, port: 7, concealment: concealment)
    }

    private func record(_ instance: String) -> RecordKey {
        RecordKey(interface: 2, family: .v4, instance: Array(instance.utf8))
    }

    @Test func `an advert shows a random instance, a version and a tag, and nothing else`() {
        let records = AdvertRecords.make(
            announcement(own), instance: own.instance, host: DNSName(own.host, "local"), domain: .local)
        let tag = key.tag(ofInstance: Array(own.instance.utf8))

        #expect(
            records.map(\.name.text) == [
                "_services._dns-sd._udp.local", "_groupchat._tcp.local", "\(own.instance)._groupchat._tcp.local",
                "\(own.instance)._groupchat._tcp.local",
            ])
        #expect(records[3].data == [3] + Array("v=1".utf8) + [10] + Array("t=".utf8) + tag)
        #expect(own.instance != other.instance && own.host != other.host && own.host != own.instance)
        #expect(AdvertRecords.type(announcement(own)) == "_groupchat._tcp")
    }

    @Test func `a member is sighted by its instance and vanishes with its last record`() {
        var table = AdvertTable(own: SigningKey().peer, room: "lab", concealment: own)
        let resolution = Resolution(endpoint: place, text: AdvertText.strings(announcement(other)))

        #expect(
            table.resolved(record(other.instance), to: resolution)
                == [.sighted(instance: other.instance, endpoints: [place])])
        #expect(table.resolved(record(other.instance), to: resolution) == [])
        #expect(table.removed(record(other.instance)) == [.vanished(instance: other.instance)])
    }

    @Test func `our own advert, another room's, one without the key and a copied tag aren't members`() throws {
        var table = AdvertTable(own: SigningKey().peer, room: "lab", concealment: own)
        let foreign = Concealment(try #require(RoomKey(room: key.room, secret: randomBytes(RoomKey.length))))
        let open = AdvertText.strings(room: "lab", peer: SigningKey().peer)
        let tag = AdvertText.strings(announcement(other))
        let cases: [(String, [[UInt8]])] = [
            (own.instance, AdvertText.strings(announcement(own))),
            (foreign.instance, AdvertText.strings(announcement(foreign))), ("bob-123456", open),
            (foreign.instance, tag), (other.instance, [tag[0]]), (other.instance, [tag[1]]),
            (other.instance, [tag[0], tag[1].dropLast()]), (other.instance, [Array("v=2".utf8), tag[1]]),
        ]
        for (instance, text) in cases {
            #expect(table.resolved(record(instance), to: Resolution(endpoint: place, text: text)) == [])
        }
    }

    @Test func `neither the name of today nor that of yesterday is somebody else's`() {
        var table = AdvertTable(own: SigningKey().peer, room: "lab", concealment: own)
        table.renamed(other.instance)
        for concealment in [own, other] {
            let resolution = Resolution(endpoint: place, text: AdvertText.strings(announcement(concealment)))
            #expect(table.resolved(record(concealment.instance), to: resolution) == [])
        }
    }
}
