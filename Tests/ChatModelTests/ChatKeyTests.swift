import ChatModel
import Identity
import Testing

@Suite struct ChatKeyTests {
    private let owner = SigningKey().peer

    /// A key's digits with other bytes, and a checksum that fits.
    private func text(_ change: (inout [UInt8]) -> Void) throws -> String {
        let digits = ChatKey(newRoom: "lab", owner: owner).text.dropFirst(ChatKey.prefix.count)
        var bytes = Array(try #require([UInt8](hexadecimal: digits)).dropLast(4))
        change(&bytes)
        let sum = SHA256.digest(of: Array("groupchat-key-v1\0".utf8) + bytes).bytes.prefix(4)
        return ChatKey.prefix + (bytes + sum).hexadecimal
    }

    private func refusal(_ text: String) -> ChatKeyError? {
        do {
            _ = try ChatKey(text)
            return nil
        } catch { return error }
    }

    @Test func `a key is read as it was written, with white space around it`() throws {
        let key = ChatKey(newRoom: "a-long-room-123", owner: owner)

        #expect(try ChatKey(key.text) == key)
        #expect(try ChatKey(" \n\(key.text)\r\n") == key)
        #expect(key.text.count == ChatKey.longest)
        #expect(key.roomID == RoomID(keyedRoom: "a-long-room-123", seed: key.seed, owner: owner))
    }

    @Test func `each new key is of another room, and none is the open one`() {
        let keys = (0..<20).map { _ in ChatKey(newRoom: "lab", owner: owner) }

        #expect(Set(keys.map(\.roomID) + [RoomID(openRoom: "lab")]).count == 21)
        #expect(Set(keys.map { $0.roomKey.proof(of: []) }).count == 20)
    }

    @Test func `a key says nothing of its secret when it is printed`() {
        let key = ChatKey(newRoom: "lab", owner: owner)

        #expect("\(key)" == "key of room 'lab' (\(key.roomID.suffix))")
    }

    @Test func `one changed, missing or additional character is noticed, wherever it is`() {
        let key = ChatKey(newRoom: "lab", owner: owner).text
        for index in key.indices {
            var changed = key
            changed.replaceSubrange(index...index, with: key[index] == "a" ? "b" : "a")
            #expect(refusal(changed) != nil)
            changed.remove(at: index)
            #expect(refusal(changed) != nil)
        }
        for length in 0..<key.count { #expect(refusal(String(key.prefix(length))) != nil) }
        for more in ["0", "00", " 00", "g", key] { #expect(refusal(key + more) == .damaged) }
        #expect(refusal(key.uppercased()) == .notAKey)
        #expect(refusal(ChatKey.prefix + key.dropFirst(ChatKey.prefix.count).uppercased()) == .damaged)
    }

    @Test func `a secret that isn't random is refused`() throws {
        let secrets: [[UInt8]] = [
            [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xff, count: 32),
            Array("passwordpasswordpasswordpassword".utf8), (0..<32).map { UInt8($0 % 15) },
        ]
        for secret in secrets {
            #expect(refusal(try text { $0.replaceSubrange(25..<57, with: secret) }) == .weak)
        }
        #expect(refusal(try text { _ in }) == nil)
    }

    @Test func `fields that mean nothing are refused, though the checksum fits`() throws {
        #expect(refusal(try text { $0[0] = 2 }) == .version(2))
        #expect(refusal(try text { $0[1] = 255 }) == .damaged)
        #expect(refusal(try text { $0[1] = 0 }) == .damaged)
        #expect(refusal(try text { $0.replaceSubrange(2..<5, with: Array("A/b".utf8)) }) == .damaged)
        #expect(refusal(try text { $0.replaceSubrange(2..<5, with: [0xff, 0xfe, 0xfd]) }) == .damaged)
        #expect(refusal(try text { $0.replaceSubrange(57..<89, with: [UInt8](repeating: 0, count: 32)) }) == .damaged)
        #expect(refusal(try text { $0.append(0) }) == .damaged)
        #expect(refusal(try text { $0.removeLast() }) == .damaged)
        #expect(refusal(try text { $0 = [] }) == .damaged)
    }

    @Test func `random texts are refused, and what is taken writes itself again`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...240, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(refusal(text) == .notAKey)
            #expect(refusal(ChatKey.prefix + text) == .damaged)
        }
    }
}
