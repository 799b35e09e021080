import Testing

@testable import Identity

struct PeerIDTests {
    @Test func `a signature holds for its bytes and its peer, and for nothing else`() throws {
        let alice = SigningKey(), bob = SigningKey()
        let message = Array("groupchat-test-v1\0hello".utf8)

        let signature = alice.sign(message)

        #expect(alice.peer.verifies(signature, of: message))
        #expect(!alice.peer.verifies(signature, of: message + [0]))
        #expect(!bob.peer.verifies(signature, of: message))
    }

    @Test func `a stored seed gives back the same peer`() {
        let key = SigningKey()
        #expect(SigningKey(seed: key.seed)?.peer == key.peer)
        #expect(SigningKey(seed: Array(key.seed.dropLast())) == nil)
    }

    @Test(arguments: [
        String(repeating: "0", count: 64),  // y = 0: order 4
        "01" + String(repeating: "0", count: 62),  // the identity: every message verifies under it
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // y = -1: order 2
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // y = p: not canonical
    ]) func `a key that isn't in the prime-order group is nobody`(text: String) {
        #expect(PeerID(text) == nil)
    }

    @Test func `the text form is 64 lower-case digits and reads back`() {
        let peer = SigningKey().peer
        #expect(peer.description.count == 64)
        #expect(peer.description == peer.description.lowercased())
        #expect(PeerID(peer.description) == peer)
        #expect(PeerID(peer.description.uppercased()) == peer)
        #expect(PeerID(String(peer.description.dropLast())) == nil)
        #expect(PeerID(peer.description.dropLast() + "g") == nil)
    }

    @Test func `peers are ordered as their keys' bytes are`() throws {
        let low = try #require(Bytes32([0x01] + [UInt8](repeating: 0xff, count: 31)))
        let high = try #require(Bytes32([0x02] + [UInt8](repeating: 0, count: 31)))
        #expect(low < high)
        #expect(low.bytes.count == 32)
        #expect(Bytes32(hexadecimal: low.hexadecimal) == low)
    }

    @Test func `digits are appended as they are printed`() {
        for first in stride(from: UInt8(0), through: 224, by: 32) {
            let value = Bytes32((0..<32).map { first + $0 })
            var bytes = Array("id: ".utf8)
            if let value { bytes.append(hexadecimal: value) }
            #expect(String(decoding: bytes, as: UTF8.self) == "id: \(value?.hexadecimal ?? "none")")
        }
    }
}

struct RoomIDTests {
    @Test func `an open room's id is the hash that the protocol names`() {
        // printf 'groupchat-room-v1\0open\0lab' | sha256sum
        #expect(
            RoomID(openRoom: "lab").description == "babf7437f86799b685db12055990568cd3da0696fcd2be6d3fd44c4f4903adb4")
        #expect(RoomID(openRoom: "lab") != RoomID(openRoom: "lab2"))
    }
}
