import Identity
import Testing

@testable import ChatModel

struct SessionMessageTests {
    @Test func `every message decodes to itself`() throws {
        var samples = Samples(seed: 1)
        for _ in 0..<200 {
            for message in samples.messages() {
                let (kind, body) = message.encoded
                let limit = try #require(SessionMessage.limit(ofKind: kind))

                #expect(try SessionMessage(kind: kind, body: body) == message)
                #expect(body.count <= limit)
            }
        }
    }

    @Test(arguments: 1...8) func `bytes that are taken encode to themselves`(seed: UInt64) {
        var samples = Samples(seed: seed)
        var taken = 0, refused = 0
        for _ in 0..<600 {
            for message in samples.messages() {
                let (kind, body) = message.encoded
                let bytes = samples.mutated(body)
                guard let decoded = try? SessionMessage(kind: kind, body: bytes) else {
                    refused += 1
                    continue
                }
                taken += 1
                #expect(decoded.encoded.kind == kind)
                #expect(decoded.encoded.body == bytes)
            }
        }
        #expect(taken > 500)
        #expect(refused > 500)
    }

    @Test func `random bytes of any kind are taken or refused, and trap nothing`() {
        var samples = Samples(seed: 9)
        for _ in 0..<20_000 {
            let kind = UInt8.random(in: 14...33, using: &samples.random)
            let bytes = samples.bytes(Int.random(in: 0...120, using: &samples.random))
            if let decoded = try? SessionMessage(kind: kind, body: bytes) { #expect(decoded.encoded.body == bytes) }
        }
    }

    @Test(arguments: [0, 15, 29, 255] as [UInt8]) func `a kind that no message has is refused`(kind: UInt8) {
        #expect(SessionMessage.limit(ofKind: kind) == nil)
        #expect(throws: WireError.invalid(what: "message kind \(kind)")) { try SessionMessage(kind: kind, body: []) }
    }

    @Test func `the longest message of a kind is as long as its limit`() throws {
        let root = BlobRoot(.zero)
        let longest: [SessionMessage] = [
            .want(Want(log: Samples.log(of: Samples.key(1)), numbers: 1...2)),
            .blobState(BlobState(root: root, progress: .refused(String(repeating: "x", count: 255)))),
            .blobWant(BlobWant(root: root, part: .chunk(1))),
            .blobHashes(
                BlobHashes(root: root, page: 0, hashes: Array(repeating: .zero, count: BlobHashes.pageLength))),
            .blobData(
                BlobData(root: root, chunk: 0, offset: 0, bytes: Array(repeating: 1, count: BlobData.pieceLength))),
            .blobMissing(BlobMissing(root: root)),
        ]
        for message in longest {
            let (kind, body) = message.encoded
            #expect(body.count == SessionMessage.limit(ofKind: kind))
            #expect(try SessionMessage(kind: kind, body: body) == message)
        }
    }

    @Test func `a page of hashes over its limit and a piece beyond its chunk are refused`() {
        let root = BlobRoot(.zero)
        let bad: [SessionMessage] = [
            .blobHashes(BlobHashes(root: root, page: 0, hashes: Array(repeating: .zero, count: 1_025))),
            .blobData(BlobData(root: root, chunk: 0, offset: 0, bytes: [])),
            .blobData(BlobData(root: root, chunk: 0, offset: 1 << 20, bytes: [1])),
            .blobData(BlobData(root: root, chunk: 0, offset: .max, bytes: [1])),
            .blobData(BlobData(root: root, chunk: 0, offset: 0, bytes: Array(repeating: 1, count: 32 * 1_024 + 1))),
        ]
        for message in bad {
            let (kind, body) = message.encoded
            #expect(throws: WireError.self) { try SessionMessage(kind: kind, body: body) }
        }
    }

    @Test(
        arguments: [
            (0, 5), (5, 4), (1, UInt64.max), (UInt64.max, UInt64.max), (.max - 1, .max),
        ] as [(UInt64, UInt64)]) func `a request for numbers that no event can have is refused`(
            first: UInt64, last: UInt64
        )
    {
        var body = Want(log: Samples.log(of: Samples.key(1)), numbers: 1...1).encoded.dropLast(16) as [UInt8]
        body.append(bigEndian: first)
        body.append(bigEndian: last)

        #expect(throws: WireError.invalid(what: "a range")) { try Want(decoding: body) }
    }

    @Test(
        arguments: [
            [(2, 1)], [(0, 4)], [(1, 4), (4, 6)], [(1, 4), (5, 6)], [(7, 9), (1, 4)], [(1, .max - 1)], [(1, .max)],
            [(.max, .max)], [(1, 1), (3, 3), (5, 5), (7, 7), (9, 9)],
        ] as [[(UInt64, UInt64)]]) func `ranges that overlap, touch, descend or are too many are refused`(
            ranges: [(UInt64, UInt64)]
        )
    {
        var body: [UInt8] = [0, 0, 1]
        body.append(Samples.log(of: Samples.key(1)))
        body.append(UInt8(ranges.count))
        for (first, last) in ranges {
            body.append(bigEndian: first)
            body.append(bigEndian: last)
            body += Bytes32.zero.bytes
        }
        #expect(throws: WireError.self) { try Have(decoding: body) }
    }

    @Test func `what a host has is divided into pages that fit a frame and name each log once`() throws {
        let author = Samples.key(1).peer
        let entries = (0..<1_000).map { number in
            Have.Entry(
                log: LogID(author: author, incarnation: Incarnation(UInt128(number))),
                ranges: [EventRange(numbers: 1...2, lastID: .none)])
        }
        let pages = Have.pages(entries)

        #expect(pages.flatMap(\.entries) == entries)
        #expect(pages.map(\.isContinued) == Array(repeating: true, count: pages.count - 1) + [false])
        for page in pages {
            #expect(page.encoded.count <= SessionMessage.controlLimit)
            #expect(try Have(decoding: page.encoded) == page)
        }
        #expect(Have.pages([]) == [Have(entries: [])])
    }

    @Test func `a reason that is too long is cut between two characters`() throws {
        let family = "👩‍👩‍👧‍👦"  // 25 bytes
        let state = BlobState(root: BlobRoot(.zero), progress: .refused(String(repeating: family, count: 20)))

        let taken = try BlobState(decoding: state.encoded)

        #expect(taken.progress == .refused(String(repeating: family, count: 10)))
    }

    @Test(arguments: ["", "a\nb", "a\u{202e}b", String(repeating: "x", count: 64)])
    func `a greeting with a name that nobody can have is refused`(name: String) {
        let hello = Hello(displayName: name, instance: "", wallTime: 0, autoFetchLimit: 0)
        #expect(throws: WireError.self) { try Hello(decoding: hello.encoded) }
    }

    @Test func `a greeting whose version range is upside down is refused`() {
        var body = Hello(displayName: "bob", instance: "", wallTime: 0, autoFetchLimit: 0).encoded
        body.replaceSubrange(0..<4, with: [0, 2, 0, 1])
        #expect(throws: WireError.invalid(what: "the version range")) { try Hello(decoding: body) }
    }
}
