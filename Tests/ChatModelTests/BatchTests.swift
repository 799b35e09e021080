import Identity
import Testing

@testable import ChatModel

struct BatchTests {
    private let alice = Samples.key(1)
    private let bob = Samples.key(2)

    private func batch(
        _ events: [BatchEvent] = [Samples.text("one"), Samples.text("two", nonce: 2)], first: UInt64 = 1,
        previous: EventID = .none, audience: Bytes32 = .zero
    ) -> Batch {
        Batch(
            sealing: events, in: Samples.log(of: alice, audience: audience), of: Samples.lab, first: first,
            previous: previous, with: alice)
    }

    @Test func `a sealed batch verifies to itself, and its stored bytes too`() throws {
        let sealed = batch()

        #expect(try Batch(verifying: sealed.bytes, in: Samples.lab, reader: bob.peer) == sealed)
        #expect(try Batch(stored: sealed.bytes, in: Samples.lab) == sealed)
        #expect(sealed.numbers == 1...2)
    }

    @Test func `any flipped bit is refused`() {
        let bytes = batch([Samples.text("x")]).bytes
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: BatchError.self, "bit \(bit)") {
                try Batch(verifying: flipped, in: Samples.lab, reader: bob.peer)
            }
        }
    }

    @Test func `a batch of another room is refused`() {
        #expect(throws: BatchError.seal) {
            try Batch(verifying: batch().bytes, in: RoomID(openRoom: "lab2"), reader: bob.peer)
        }
    }

    @Test func `a batch for somebody else is refused, and one for its reader is taken`() throws {
        let direct = batch(audience: bob.peer.key)

        #expect(throws: BatchError.audience) {
            try Batch(verifying: direct.bytes, in: Samples.lab, reader: Samples.key(3).peer)
        }
        #expect(try Batch(verifying: direct.bytes, in: Samples.lab, reader: bob.peer) == direct)
    }

    @Test func `the chain of a second batch goes on from the first, however they were cut`() {
        let one = Samples.text("one"), two = Samples.text("two", nonce: 2), three = Samples.text("three", nonce: 3)
        let whole = batch([one, two, three])

        let front = batch([one])
        let rest = batch([two, three], first: 2, previous: front.lastID)

        #expect(front.ids + rest.ids == whole.ids)
        #expect(rest.id(of: 1) == front.lastID)
        #expect(rest.id(of: 3) == whole.lastID)
        #expect(Set(whole.ids).count == 3)
    }

    @Test(arguments: [0, 4, 5, .max - 1, .max] as [UInt64])
    func `numbers that a batch doesn't have have no id in it`(number: UInt64) {
        #expect(batch([Samples.text("x")], first: 3, previous: EventID(Samples.lab.digest)).id(of: number) == nil)
    }

    @Test func `two events of one text under two nonces are two events`() {
        #expect(batch([Samples.text("x", nonce: 1)]).lastID != batch([Samples.text("x", nonce: 2)]).lastID)
    }

    @Test func `256 events fit and 257 don't`() throws {
        let events = (0..<257).map { Samples.text("x", nonce: UInt128($0)) }
        #expect(Batch.fitting(events) == 256)

        let full = batch(Array(events.prefix(256)))
        #expect(try Batch(verifying: full.bytes, in: Samples.lab, reader: bob.peer).last == 256)
        #expect(throws: BatchError.eventCount(257)) {
            try Batch(verifying: forged(events), in: Samples.lab, reader: bob.peer)
        }
        #expect(throws: BatchError.eventCount(0)) {
            try Batch(verifying: forged([]), in: Samples.lab, reader: bob.peer)
        }
    }

    @Test func `48 KiB fit and one byte more doesn't`() throws {
        let room = Batch.maximumLength - Batch.overhead - 2 * Batch.eventOverhead
        let front = filler(20_000), rest = filler(room - 20_000), more = filler(room - 20_000 + 1)

        #expect(Batch.fitting([front, rest]) == 2)
        #expect(Batch.fitting([front, more]) == 1)
        let full = batch([front, rest])
        #expect(full.bytes.count == 48 * 1_024)
        #expect(try Batch(verifying: full.bytes, in: Samples.lab, reader: bob.peer) == full)
        #expect(throws: BatchError.malformed(.tooLong(what: "batch", length: 49_153, limit: 49_152))) {
            try Batch(verifying: forged([front, more]), in: Samples.lab, reader: bob.peer)
        }
    }

    @Test(
        arguments: [
            (0, false), (1, false), (2, true), (.max, false), (.max - 1, false), (Batch.maximumNumber, false),
        ] as [(UInt64, Bool)]) func `impossible numbers are refused under a seal that holds`(
            first: UInt64, isChainStart: Bool
        )
    {
        let previous = isChainStart ? EventID.none : EventID(Samples.lab.digest)
        let bytes = forged([Samples.text("x"), Samples.text("y")], first: first, previous: previous)
        #expect(throws: BatchError.number) { try Batch(verifying: bytes, in: Samples.lab, reader: bob.peer) }
    }

    @Test func `the largest numbers that are taken can be had and wanted`() throws {
        let bytes = forged(
            [Samples.text("x"), Samples.text("y")], first: Batch.maximumNumber - 1,
            previous: EventID(Samples.lab.digest))
        let sealed = try Batch(parsingForTest: bytes)
        let range = EventRange(numbers: sealed.numbers, lastID: sealed.lastID)
        let have = Have(entries: [.init(log: sealed.log, ranges: [range])])

        #expect(try Have(decoding: have.encoded) == have)
        #expect(try Want(decoding: Want(log: sealed.log, numbers: sealed.numbers).encoded).numbers == sealed.numbers)
    }

    @Test func `an event's flags must be zero, a later version's 'body absent' too`() {
        for flag in 1...255 as ClosedRange<UInt8> {
            var bytes = batch([Samples.text("x")]).bytes
            bytes[Batch.overhead - Signature.length + 1] = flag
            #expect(throws: BatchError.malformed(.invalid(what: "an event's flags"))) {
                try Batch(verifying: bytes, in: Samples.lab, reader: bob.peer)
            }
        }
    }

    @Test(arguments: 1...4) func `mutated bytes are refused, and trap nothing`(seed: UInt64) {
        var samples = Samples(seed: seed)
        let sealed = batch()
        for _ in 0..<5_000 {
            let bytes = samples.mutated(sealed.bytes)
            if bytes == sealed.bytes { continue }
            #expect(throws: BatchError.self) { try Batch(verifying: bytes, in: Samples.lab, reader: bob.peer) }
            if let stored = try? Batch(stored: bytes, in: Samples.lab) {
                #expect(
                    forged(stored.events, in: stored.log, first: stored.first, previous: stored.previous)
                        .dropLast(Signature.length) == bytes.dropLast(Signature.length))
                _ = (stored.last, stored.id(of: samples.number()))
            }
        }
    }

    /// The ids and the batch were computed apart from this code: in Python, by the tables of docs/protocol.md, with
    /// `hashlib` and the Ed25519 of `cryptography`, from the seed 00 01 ... 1f, the open room `lab`, the incarnation
    /// 10 11 ... 1f, and the nonces 00 ... 0f and 10 ... 1f.
    @Test func `ids, seals and layout are those of the protocol`() throws {
        let key = try #require(SigningKey(seed: Array(0..<32)))
        let root = BlobRoot(size: 3, chunkHashes: [SHA256.digest(of: Array("abc".utf8))])
        let clock = HybridTime(milliseconds: 1_700_000_000_000)
        let drafts = [
            BatchEvent(
                kind: .text, nonce: Nonce(0x00010203_04050607_08090a0b_0c0d0e0f), clock: clock,
                wallTime: 1_700_000_000_000, body: EventBody.text("héllo 🧑‍🌾 한글").encoded(authorName: "alice")),
            BatchEvent(
                kind: .image, nonce: Nonce(0x10111213_14151617_18191a1b_1c1d1e1f), clock: clock.next,
                wallTime: 1_700_000_000_001,
                body: EventBody.image(Samples.image("plan.png", root: root)).encoded(authorName: "alice")),
        ]
        let log = LogID(author: key.peer, incarnation: Incarnation(0x10111213_14151617_18191a1b_1c1d1e1f))

        let sealed = Batch(sealing: drafts, in: log, of: Samples.lab, first: 1, previous: .none, with: key)

        #expect(key.peer.description == "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")
        #expect(Samples.lab.description == "babf7437f86799b685db12055990568cd3da0696fcd2be6d3fd44c4f4903adb4")
        #expect(root.description == "209e8303d43b0e964a4c816cc3383be00d778d19bcd9fd9ba1717d11aad236d3")
        #expect(
            sealed.ids.map(\.description) == [
                "00a961f841d6c4f20dc1790cb6236944bf21e3d52b74e3fcced2ed5ef0c33682",
                "c4dbb65542268a67bd24339cfe632df800a41274069173775adc7072a1972419",
            ])
        #expect(
            sealed.bytes.hexadecimal == """
                03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8101112131415161718191a1b1c1d1e1f\
                0000000000000000000000000000000000000000000000000000000000000000000000000000000100000000000000000\
                00000000000000000000000000000000000000000000000\
                0002\
                0100000102030405060708090a0b0c0d0e0f018bcfe5680000000000018bcfe568000000001f05616c69636568c3a96c\
                6c6f20f09fa791e2808df09f8cbe20ed959ceab880\
                0200101112131415161718191a1b1c1d1e1f018bcfe5680000010000018bcfe568010000004905616c69636508706c61\
                6e2e706e6709696d6167652f706e67000000000000000300000280000001e0209e8303d43b0e964a4c816cc3383be00d\
                778d19bcd9fd9ba1717d11aad236d3\
                6a5250472518b8b4652d8038c00209f4ab11eb11d85f898f7b5ecbcca86f778e1b4a579eb2313154c76fff7138b2a7bf\
                ae446cc0489a577fac49ff1e6949490a
                """)
    }

    private func filler(_ length: Int) -> BatchEvent {
        BatchEvent(
            kind: EventKind(9), nonce: Nonce(1), clock: HybridTime(value: 1), wallTime: 1,
            body: Array(repeating: 7, count: length))
    }

    /// A batch as docs/protocol.md lays it out, whatever is in it, under a seal of alice's that holds.
    private func forged(
        _ events: [BatchEvent], in log: LogID? = nil, first: UInt64 = 1, previous: EventID = .none
    ) -> [UInt8] {
        let log = log ?? Samples.log(of: alice)
        var head: [UInt8] = log.author.bytes
        head.append(bigEndian: log.incarnation.value)
        head += log.audience.bytes
        var bytes = head
        bytes.append(bigEndian: first)
        bytes += previous.digest.bytes
        bytes.append(bigEndian: UInt16(events.count))
        var id = previous
        var number = first
        for event in events {
            id = EventHeader(
                log: log, number: number, previous: id, kind: event.kind, nonce: event.nonce, clock: event.clock,
                wallTime: event.wallTime, bodyHash: SHA256.digest(of: event.body), bodyLength: UInt32(event.body.count)
            ).id(in: Samples.lab)
            number &+= 1
            bytes += [event.kind.number, 0]
            bytes.append(bigEndian: event.nonce.value)
            bytes.append(bigEndian: event.clock.value)
            bytes.append(bigEndian: event.wallTime)
            bytes.append(bigEndian: UInt32(event.body.count))
            bytes += event.body
        }
        var sealed = Array("groupchat-seal-v1\0".utf8) + Samples.lab.bytes + head
        sealed.append(bigEndian: number &- 1)
        sealed += id.digest.bytes
        return bytes + alice.sign(sealed).bytes
    }
}

extension Batch {
    fileprivate init(parsingForTest bytes: [UInt8]) throws {
        try self.init(verifying: bytes, in: Samples.lab, reader: Samples.key(2).peer)
    }
}
