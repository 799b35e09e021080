import Discovery
import Identity
import Testing

struct InstanceNameTests {
    private let peer = SigningKey().peer

    @Test(arguments: [
        ("alice", "alice"),
        (String(repeating: "a", count: 56), String(repeating: "a", count: 56)),
        (String(repeating: "a", count: 63), String(repeating: "a", count: 56)),
        (String(repeating: "a", count: 64), String(repeating: "a", count: 56)),
        (String(repeating: "é", count: 32), String(repeating: "é", count: 28)),
        (String(repeating: "漢", count: 21), String(repeating: "漢", count: 18)),
        (String(repeating: "👨‍👩‍👧‍👦", count: 5), String(repeating: "👨‍👩‍👧‍👦", count: 2)),
        (String(repeating: "e\u{301}", count: 40), String(repeating: "e\u{301}", count: 18)),
    ]) func `a name is cut between characters, so that it fits a label with its suffix`(name: String, kept: String) {
        let instance = Discovery.instanceName(displayName: name, peer: peer)

        #expect(Array(instance.utf8) == Array("\(kept)-\(peer.suffix)".utf8))
        #expect(instance.utf8.count <= 63)
        #expect(!instance.unicodeScalars.contains("\u{fffd}"))
    }

    @Test func `a name whose first character doesn't fit still gives an instance`() {
        let zalgo = "a" + String(repeating: "\u{301}", count: 100)

        #expect(Discovery.instanceName(displayName: zalgo, peer: peer) == "peer-\(peer.suffix)")
        #expect(Discovery.instanceName(displayName: "", peer: peer) == "peer-\(peer.suffix)")
    }

    @Test func `two peers of one name have two instances`() {
        let other = SigningKey().peer
        #expect(
            Discovery.instanceName(displayName: "alice", peer: peer)
                != Discovery.instanceName(displayName: "alice", peer: other))
    }
}
