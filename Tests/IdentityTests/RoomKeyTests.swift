import Identity
import Testing

@Suite struct HMACTests {
    /// RFC 4231, 4.3.
    @Test func `a code is as the standard's example says`() {
        let code = HMAC.code(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))

        #expect(code.hexadecimal == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    /// RFC 5869, A.3.
    @Test func `a derived key is as the standard's example says`() {
        let key = HMAC.derivedKey(from: [UInt8](repeating: 0x0b, count: 22), info: [])

        #expect(key.hexadecimal == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
    }

    @Test func `codes are equal only if all bytes are`() {
        #expect(HMAC.areEqual([1, 2, 3], [1, 2, 3]) && HMAC.areEqual([], []))
        #expect(!HMAC.areEqual([1, 2, 3], [1, 2, 4]) && !HMAC.areEqual([1, 2, 3], [1, 2]))
    }
}

@Suite struct RoomKeyTests {
    @Test func `what a key proves is made by the documented rule`() throws {
        let room = RoomID(openRoom: "lab")
        let secret = [UInt8](0..<32)
        let key = try #require(RoomKey(room: room, secret: secret))
        let derived = HMAC.derivedKey(from: secret, info: Array("groupchat-proof-v1".utf8) + [0] + room.bytes)

        #expect(key.proof(of: [1, 2]) == HMAC.code(of: [1, 2], key: derived))
        #expect(RoomKey(openRoom: room).proof(of: []) == RoomKey(room: room, secret: room.bytes)?.proof(of: []))
    }

    @Test func `a key has 32 bytes and is never printed`() throws {
        let secret = [UInt8](repeating: 0xab, count: 32)
        let key = try #require(RoomKey(room: RoomID(openRoom: "lab"), secret: secret))

        #expect(RoomKey(room: key.room, secret: Array(secret.dropLast())) == nil)
        #expect(!"\(key)".contains("abab"))
    }
}
