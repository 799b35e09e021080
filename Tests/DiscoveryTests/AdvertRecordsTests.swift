import Identity
import Testing

@testable import Discovery

struct AdvertRecordsTests {
    @Test func `a name's text form and back is the same name, whatever its bytes`() throws {
        let name = DNSName(labels: [Array(0...62), Array(200...255), Array("a.b\\c d".utf8)])

        #expect(DNSName(parsing: name.text) == name)
        #expect(DNSName(parsing: "h1.local.")?.labels == [Array("h1".utf8), Array("local".utf8)])
        #expect(DNSName("a.b", "c").text == "a\\046b.c")
    }

    @Test(arguments: ["", ".", "a..b", "a\\", "a\\25", "a\\256", "a\\2x5", String(repeating: "a", count: 64)])
    func `a malformed name is refused`(text: String) {
        #expect(DNSName(parsing: text) == nil)
    }

    @Test func `an advert has two pointers to the instance, an address record and a text`() throws {
        let peer = SigningKey().peer
        let announcement = Announcement(displayName: "a.b", room: "lab", peer: peer, port: 0x1b58)

        let records = AdvertRecords.make(
            announcement, instance: "a.b-123456", host: DNSName("h1", "local"), domain: .local)

        let instance: [UInt8] =
            [10] + Array("a.b-123456".utf8) + [10] + Array("_groupchat".utf8) + [4]
            + Array("_tcp".utf8) + [5] + Array("local".utf8) + [0]
        #expect(
            records.map(\.name.text) == [
                "_services._dns-sd._udp.local", "_groupchat._tcp.local", "_lab._sub._groupchat._tcp.local",
                "a\\046b-123456._groupchat._tcp.local", "a\\046b-123456._groupchat._tcp.local",
            ])
        #expect(records[1].data == instance)
        #expect(records[2].data == instance)
        #expect(records[3].data == [0, 0, 0, 0, 0x1b, 0x58, 2, 0x68, 0x31, 5] + Array("local".utf8) + [0])
        #expect(records[4].data == Array("\u{3}v=1\u{8}room=lab\u{43}id=\(peer)".utf8))
        #expect(records.map(\.isUnique) == [false, false, false, true, true])
    }
}
