import Addressing
import Identity

@testable import ChatModel

/// Values for tests, made from a seed alone.
struct Samples {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// The key that stands for a number, the same in each run.
    static func key(_ number: Int) -> SigningKey {
        guard let key = SigningKey(seed: SHA256.digest(of: Array("key \(number)".utf8)).bytes) else {
            preconditionFailure("32 bytes are a seed")
        }
        return key
    }

    static let lab = RoomID(openRoom: "lab")

    static func log(of key: SigningKey, audience: Bytes32 = .zero) -> LogID {
        LogID(author: key.peer, incarnation: Incarnation(7), audience: audience)
    }

    static func text(_ text: String, by name: String = "alice", nonce: UInt128 = 1, clock: UInt64 = 1 << 32)
        -> BatchEvent
    {
        BatchEvent(
            kind: .text, nonce: Nonce(nonce), clock: HybridTime(value: clock), wallTime: 1_700_000_000_000,
            body: EventBody.text(text).encoded(authorName: name))
    }

    static func image(_ name: String, size: UInt64 = 3, root: BlobRoot = BlobRoot(.zero)) -> ImageInfo {
        ImageInfo(name: name, mediaType: "image/png", size: size, width: 640, height: 480, root: root)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }

    mutating func digest() -> Bytes32 { SHA256.digest(of: bytes(8)) }

    /// Numbers from all over the range, the ends more often than chance would have it.
    mutating func number() -> UInt64 {
        let any = UInt64.random(in: 0...UInt64.max, using: &random)
        return [0, 1, 2, .max, .max - 1, .max - 2, 1 << 63, any, any >> 32, any >> 60].randomElement(using: &random)
            ?? any
    }

    mutating func log() -> LogID {
        LogID(
            author: Self.key(Int.random(in: 0...3, using: &random)).peer,
            incarnation: Incarnation(UInt128(number()) << 64 | UInt128(number())),
            audience: Bool.random(using: &random) ? .zero : digest())
    }

    mutating func range(above lowest: UInt64 = 1) -> ClosedRange<UInt64> {
        let first = min(max(number(), lowest), Batch.maximumNumber)
        return first...max(first, min(number(), Batch.maximumNumber))
    }

    /// A hint of a peer of its own, for this room.
    mutating func hint() -> PeerHint {
        let addresses: [IPAddress] = [
            .v4(0x0a4d_0001), .v4(0xac10_0001), .v4(0xc0a8_0001), .v6(high: 0xfe80 << 48, low: number(), scope: 0),
            .v6(high: 0xfd00 << 48, low: number(), scope: 0),
        ]
        let endpoints = addresses.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)).map {
            Endpoint(address: $0, port: UInt16.random(in: 1...UInt16.max, using: &random))
        }
        guard let hint = PeerHint(signing: endpoints, counter: number(), in: Self.lab, by: Self.key(1)) else {
            preconditionFailure("these may be told")
        }
        return hint
    }

    /// One message of each kind.
    mutating func messages() -> [SessionMessage] {
        let root = BlobRoot(digest())
        let version = UInt16.random(in: 0...UInt16.max, using: &random)
        let low = range()
        let ranges = [
            EventRange(numbers: 1...max(1, low.lowerBound / 2), lastID: EventID(digest())),
            EventRange(numbers: low.lowerBound + 1...low.upperBound + 1, lastID: EventID(digest())),
        ].prefix(low.lowerBound > 4 && low.upperBound < Batch.maximumNumber ? 2 : 1)
        return [
            .hello(
                Hello(
                    versions: version / 2...version, features: UInt32(truncatingIfNeeded: number()), displayName: "bób",
                    instance: "bób-a1b2c3", wallTime: number(), autoFetchLimit: number())),
            .have(
                Have(
                    entries: [
                        .init(log: log(), ranges: Array(ranges)),
                        .init(log: log(), ranges: [], isForked: Bool.random(using: &random)),
                    ],
                    isContinued: Bool.random(using: &random))),
            .want(Want(log: log(), numbers: range())), .answered(Want(log: log(), numbers: range())),
            .batch(bytes(40)),
            .blobState(BlobState(root: root, progress: .verified(number()))),
            .blobState(BlobState(root: root, progress: .refused("40 MiB is over its limit of 32 MiB"))),
            .blobState(BlobState(root: root, progress: .withdrawn(EventID(digest())))),
            .blobWant(BlobWant(root: root, part: .chunk(UInt32(truncatingIfNeeded: number())))),
            .blobWant(BlobWant(root: root, part: .hashes(page: UInt32(truncatingIfNeeded: number())))),
            .blobHashes(BlobHashes(root: root, page: 3, hashes: [digest(), digest()])),
            .blobData(BlobData(root: root, chunk: .max, offset: 1 << 20 - 33, bytes: bytes(33))),
            .hints(Hints(hints: [hint(), hint()])), .hints(Hints(hints: [])),
            .blobMissing(BlobMissing(root: root)), .waiting(.begins), .waiting(.over), .verify(number()),
            .verified(
                Verified(
                    question: number(),
                    entries: [
                        .init(.init(log: log(), ranges: Array(ranges)), isForked: true),
                        .init(.init(log: log(), ranges: []), isLeftOut: true),
                    ], isContinued: Bool.random(using: &random))),
        ]
    }

    /// Bytes as an attacker or a bad line would change them: flipped, cut, doubled, with extreme numbers.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...5, using: &random) {
            case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: bytes.removeLast(min(bytes.count, Int.random(in: 1...8, using: &random)))
            case 2: bytes += self.bytes(Int.random(in: 1...8, using: &random))
            case 3 where bytes.count >= place + 8:
                var number: [UInt8] = []
                number.append(bigEndian: self.number())
                bytes.replaceSubrange(place..<place + 8, with: number)
            case 4 where !bytes.isEmpty: bytes[place] = [0, 1, 255].randomElement(using: &random) ?? 0
            default: bytes.insert(contentsOf: bytes.prefix(place).suffix(8), at: place)
            }
        }
        return bytes
    }
}
