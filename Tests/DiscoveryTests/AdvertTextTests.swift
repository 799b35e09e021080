import Identity
import Testing

@testable import Discovery

struct AdvertTextTests {
    private static let peer = SigningKey().peer

    private func parse(_ strings: [String], room: String = "lab") -> PeerID? {
        AdvertText.peer(in: strings.map { Array($0.utf8) }, room: room)
    }

    @Test func `what is announced is understood`() {
        let strings = AdvertText.strings(room: "lab", peer: Self.peer)
        #expect(AdvertText.peer(in: strings, room: "lab") == Self.peer)
    }

    @Test func `unknown keys are passed over, key case doesn't matter, the first of a repeated key counts`() {
        let id = "ID=\(Self.peer)"
        #expect(parse(["x=y", "flag", "V=1", "Room=lab", id, "v=2", "room=other", "id=00"]) == Self.peer)
    }

    @Test(arguments: [
        [], ["v=1"], ["v=1", "room=lab"],
        ["v=1", "room=lab", "id="],
        ["v=1", "room=lab", "id"],
        ["v=2", "room=lab", "id=\(peer)"],
        ["v=11", "room=lab", "id=\(peer)"],
        ["v=", "room=lab", "id=\(peer)"],
        ["v", "room=lab", "id=\(peer)"],
        ["v=1", "room=Lab", "id=\(peer)"],
        ["v=1", "room=lab2", "id=\(peer)"],
        ["v=1", "room=", "id=\(peer)"],
        ["v=1", "room=lab", "id=\(peer)0"],
        ["v=1", "room=lab", "id= \(peer)"],
        ["v=1", "room=lab", "id=\(String(peer.description.dropLast()))"],
        ["v=1", "room=lab", "id=\(String(repeating: "0", count: 64))"],
        ["v=1", "room=lab", "id=\(String(repeating: "g", count: 64))"],
        ["v=1", "room=lab", "id=\(String(repeating: "é", count: 32))"],
        ["v=1", "room=lab", "=id=\(peer)"],
        ["v=1", "room=lab", "id=\(peer)"] + Array(repeating: String(repeating: "x", count: 255), count: 5),
    ]) func `anything but a whole advert of this room is nobody's`(strings: [String]) {
        #expect(parse(strings) == nil)
    }

    @Test func `bytes that aren't UTF-8 do no harm`() {
        let bytes: [[UInt8]] = [[0xff, 0x3d, 0xfe], [0x3d], [], Array("v=1".utf8), [0x69, 0x64, 0x3d, 0x80]]
        #expect(AdvertText.peer(in: bytes, room: "lab") == nil)
    }
}
