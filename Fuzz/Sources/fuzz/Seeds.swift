import Addressing
import Foundation
import Identity

@testable import ChatModel
@testable import Transport

/// Small valid inputs to start from, made anew by `fuzz seeds Fuzz/Corpora`.
enum Seeds {
    static let key: SigningKey = {
        guard let key = SigningKey(seed: [UInt8](repeating: 7, count: 32)) else { fatalError("32 bytes are a seed") }
        return key
    }()

    static let otherKey: SigningKey = {
        guard let key = SigningKey(seed: [UInt8](repeating: 8, count: 32)) else { fatalError("32 bytes are a seed") }
        return key
    }()

    static let roomKey = RoomKey(openRoom: Fuzzed.room)

    static let names: [PeerID: String] = [key.peer: "alice"]

    static var all: [String: [[UInt8]]] {
        let frames = messages.map { Frame(kind: $0.encoded.kind, body: $0.encoded.body).encoded }
        return [
            "frames": [[0] + frames.joined(), [40] + frames.joined()],
            "message": messages.map { [$0.encoded.kind] + $0.encoded.body } + [[1, 0, 0, 0, 0, 0, 0, 0, 9]],
            "batch": [batch.bytes],
            "event": [[1] + text, [2] + image],
            "txt": [["v=1", "room=lab", "id=\(key.peer)"].flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }],
            "name": [Array("al\\.ice-0a1b2c._groupchat._tcp.local".utf8), Array("b\\111b.local".utf8)],
            "request": requests.map { Array($0.utf8) },
            "text": ["hi\u{1b}[2J", "a\u{202E}b", "👨‍👩‍👧", "e\u{301}\u{301}\u{301}\u{301}\u{301}", "می\u{200C}خواهم"].map {
                Array($0.utf8)
            },
            "image": [
                [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 9, 0, 0, 0, 7],
                Array("GIF89a".utf8) + [9, 0, 7, 0], [0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 0, 7, 0, 9],
                Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8X".utf8) + [UInt8](repeating: 1, count: 18),
            ],
            "key": [[0] + Fuzzed.chatKey(of: chatKey).utf8, [1] + chatKey],
            "opening": [
                [0, 2, 22, 3, 1, 1] + [33] + [UInt8](repeating: 0xAA, count: 32), [1, 3, 22, 3, 1, 1, 2],
                [2, 40, 22, 3, 1] + [UInt8](repeating: 0xAA, count: 37),
                [1, 35, 22, 3, 1] + [UInt8](repeating: 0xAA, count: 32),
            ],
            "query": [Array("alice".utf8), Array(key.peer.description.utf8), Array(key.peer.suffix.utf8)],
        ]
    }

    /// Without its checksum.
    private static let chatKey: [UInt8] =
        [1, 3] + Array("lab".utf8) + (0..<16) + [0, 0, 0, 0] + (32..<64) + key.peer.bytes

    private static let log = LogID(author: key.peer, incarnation: Incarnation(7), audience: .zero)
    private static let root = BlobRoot(size: 0, chunkHashes: [])
    private static let text = EventBody.text("lunch?").encoded(authorName: "alice")
    private static let image = EventBody.image(
        ImageInfo(name: "plan.png", mediaType: "image/png", size: 3, width: 1, height: 2, root: root)
    ).encoded(authorName: "alice")

    private static var batch: Batch {
        let events = [(EventKind.text, text), (.image, image)].map { kind, body in
            BatchEvent(kind: kind, nonce: Nonce(1), clock: HybridTime(value: 1 << 32), wallTime: 1, body: body)
        }
        return Batch(sealing: events, in: log, of: Fuzzed.room, first: 1, previous: .none, with: key)
    }

    private static var entry: Have.Entry {
        Have.Entry(log: log, ranges: [EventRange(numbers: 1...2, lastID: batch.lastID)])
    }

    private static var receipt: Receipt {
        let content = Receipt.Content(counter: 1, name: "alice", links: [Receipt.Mark(key.peer)], entries: [entry])
        return Receipt(signing: content, in: Fuzzed.room, with: key)
    }

    private static let hint = PeerHint(
        signing: [
            Endpoint(address: .v4(0x0a4d_0001), port: 7_311),
            Endpoint(address: .v6(high: 0xfe80 << 48, low: 1, scope: 0), port: 7_311),
        ], counter: 1, in: Fuzzed.room, by: key)

    private static var messages: [SessionMessage] {
        [
            .hello(Hello(displayName: "alice", instance: "alice-0a1b2c", wallTime: 1, autoFetchLimit: 2)),
            .have(Have(entries: [entry])),
            .want(Want(log: log, numbers: 1...2)), .answered(Want(log: log, numbers: 1...2)), .batch(batch.bytes),
            .blobState(BlobState(root: root, progress: .verified(1))),
            .blobState(BlobState(root: root, progress: .refused("too large"))),
            .blobState(BlobState(root: root, progress: .withdrawn(EventID(root.digest)))),
            .blobWant(BlobWant(root: root, part: .chunk(1))), .blobWant(BlobWant(root: root, part: .hashes(page: 1))),
            .blobHashes(BlobHashes(root: root, page: 0, hashes: [.zero])),
            .blobData(BlobData(root: root, chunk: 0, offset: 0, bytes: [1, 2, 3])),
            .blobMissing(BlobMissing(root: root)), .waiting(.begins), .receipt(receipt), .verify(1),
            .verified(Verified(question: 1, entries: [.init(entry, isForked: true)])),
            .hints(Hints(hints: [hint].compactMap(\.self))),
        ]
    }

    private static let requests = [
        #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#,
        #"{"jsonrpc":"2.0","id":"a","method":"send","params":{"text":"hi\u001b","nonce":"00000000000000000000000000000000"}}"#,
        #"{"jsonrpc":"2.0","id":null,"method":"log","params":{"count":3}}"# + "\n{}\n[]\n",
        #"{"jsonrpc":"2.0","id":2,"method":"decide","params":{"peer":"bob","decision":"block"}}"#,
    ]
}

func writeSeeds(into directory: String) throws {
    for (name, seeds) in Seeds.all {
        let folder = URL(fileURLWithPath: directory).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (index, seed) in seeds.enumerated() {
            try Data(seed).write(to: folder.appendingPathComponent("seed-\(index)"))
        }
    }
}
