import Identity
import Testing

@testable import Transport

/// Case B20, and the limits of B58 without sockets.
@Suite struct FrameDecoderTests {
    private let limit: @Sendable (UInt8) -> Int? = { $0 == 20 ? 100 : nil }
    private let text = Frame(kind: 20, body: Array("héllo 🧑‍🌾 한글".utf8))

    private func frames(_ parts: [[UInt8]]) throws -> [Frame] {
        var decoder = FrameDecoder(limit: limit)
        var frames: [Frame] = []
        for part in parts {
            decoder.feed(part)
            while let frame = try decoder.next() { frames.append(frame) }
        }
        return frames
    }

    @Test func `a frame cut anywhere is the same frame`() throws {
        let bytes = text.encoded
        for cut in 0...bytes.count {
            #expect(try frames([Array(bytes[..<cut]), Array(bytes[cut...])]) == [text])
        }
    }

    @Test func `bytes that come one by one make the same frames`() throws {
        #expect(try frames((text.encoded + text.encoded).map { [$0] }) == [text, text])
    }

    @Test func `two frames in one read are two`() throws {
        let empty = Frame(kind: 20, body: [])

        #expect(try frames([text.encoded + empty.encoded]) == [text, empty])
    }

    @Test func `a length cut after its first byte is put together`() throws {
        let bytes = text.encoded

        #expect(try frames([Array(bytes[..<1]), Array(bytes[1..<4]), Array(bytes[4...])]) == [text])
    }

    @Test func `a body of exactly the limit passes, one byte more doesn't`() throws {
        let longest = Frame(kind: 20, body: [UInt8](repeating: 7, count: 100))

        #expect(try frames([longest.encoded]) == [longest])
        #expect(throws: FrameError.tooLong(kind: 20, length: 101, limit: 100)) {
            try frames([[0, 0, 0, 101, 20, 0]])
        }
    }

    @Test func `a length beyond the limit is an error before any of the body comes`() {
        #expect(throws: FrameError.tooLong(kind: 20, length: 0xffff_ffff, limit: 100)) {
            try frames([[0xff, 0xff, 0xff, 0xff, 20, 0]])
        }
    }

    @Test func `an unknown frame that may be skipped is, wherever it is cut`() throws {
        let unknown = Frame(kind: 99, flags: Frame.skippable, body: [UInt8](repeating: 1, count: 50))
        let bytes = text.encoded + unknown.encoded + text.encoded
        for cut in 0...bytes.count {
            #expect(try frames([Array(bytes[..<cut]), Array(bytes[cut...])]) == [text, text])
        }
    }

    @Test func `an unknown frame is an error without the flag, or above 16 KiB`() {
        #expect(throws: FrameError.unknownKind(99)) { try frames([[0, 0, 0, 0, 99, 0]]) }
        #expect(throws: FrameError.tooLong(kind: 99, length: 16385, limit: 16384)) {
            try frames([[0, 0, 0x40, 1, 99, 1]])
        }
    }

    @Test func `flags that mean nothing are an error`() {
        #expect(throws: FrameError.unknownFlags(kind: 20, flags: 2)) { try frames([[0, 0, 0, 0, 20, 2]]) }
    }

    @Test func `a decoder that threw throws the same again`() {
        var decoder = FrameDecoder(limit: limit)
        decoder.feed([0, 0, 0, 0, 99, 0] + text.encoded)

        for _ in 0..<2 {
            #expect(throws: FrameError.unknownKind(99)) { try decoder.next() }
        }
    }

    @Test func `what is held is what came, whatever was announced`() throws {
        var decoder = FrameDecoder { _ in 1 << 30 }
        decoder.feed([0x3f, 0xff, 0xff, 0xff, 20, 0] + [UInt8](repeating: 0, count: 1000))

        let frame = try decoder.next()

        #expect(frame == nil)
        #expect(decoder.pendingCount == 1006)
    }

    @Test func `random bytes never trap, and what is accepted re-encodes to itself`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            var bytes = (0..<Int.random(in: 0...80)).map { _ in UInt8.random(in: 0...255, using: &random) }
            for index in [0, 1, 2] where index < bytes.count && Bool.random() { bytes[index] = 0 }
            var decoder = FrameDecoder { $0 & 1 == 0 ? 64 : nil }
            decoder.feed(bytes)
            while let frame = try? decoder.next(), frame.flags == 0 {
                let encoded = frame.encoded
                #expect(bytes.indices.contains { bytes[$0...].starts(with: encoded) })
            }
        }
    }
}

@Suite struct TransportMessageTests {
    private let name = LinkName(dialler: SigningKey().peer, instance: ProcessInstance(), number: .max)

    @Test func `every message survives its encoding`() throws {
        let messages: [TransportMessage] = [
            .link(Introduction(purpose: .chat, instance: ProcessInstance(), number: 1)),
            .link(Introduction(purpose: .blob, instance: ProcessInstance(), number: 2, replaces: name)),
            .ping(0x0102_0304_0506_0708), .pong(.max), .goodbye(.leaving), .goodbye(Farewell(rawValue: 200)), .blobLink,
        ]
        for message in messages {
            #expect(try TransportMessage(message.frame) == message)
            #expect(message.frame.body.count <= TransportMessage.limit(ofKind: message.frame.kind) ?? -1)
        }
    }

    @Test func `a ping is its nonce, most significant byte first`() {
        #expect(TransportMessage.ping(0x0102).frame.encoded == [0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    }

    @Test func `a body that is too short, too long or has a wrong value is malformed`() {
        let link = TransportMessage.link(Introduction(purpose: .chat, instance: ProcessInstance(), number: 1)).frame
        let replacing = Introduction(purpose: .chat, instance: ProcessInstance(), number: 1, replaces: name).bytes
        var noPurpose = link.body
        noPurpose[0] = 3
        var noPeer = replacing
        noPeer.replaceSubrange(26..<58, with: [UInt8](repeating: 0, count: 32))
        let bodies: [(UInt8, [UInt8])] = [
            (0, []), (0, Array(link.body.dropLast())), (0, link.body + [0]), (0, noPurpose), (0, noPeer),
            (0, Array(replacing.dropLast())), (0, Array(link.body.dropLast()) + [2]), (1, [1]), (2, []), (3, []),
            (4, [0]),
        ]
        for (kind, body) in bodies {
            #expect(throws: FrameError.malformed(kind: kind)) {
                try TransportMessage(Frame(kind: kind, body: body))
            }
        }
        #expect(throws: FrameError.malformed(kind: 4)) { try TransportMessage(Frame(kind: 4, flags: 1, body: [])) }
    }
}
