import Identity

/// What two peers say to each other above the transport (docs/protocol.md, "Messages").
///
/// Bytes that decode encode to themselves.
public enum SessionMessage: Hashable, Sendable {
    case hello(Hello)
    case have(Have)
    case want(Want)
    /// Nothing more comes for this ``Want``; it follows the batches that answer it.
    case answered(Want)
    /// A batch as it was sealed, not yet verified.
    case batch([UInt8])
    case blobState(BlobState)
    case blobWant(BlobWant)
    case blobHashes(BlobHashes)
    case blobData(BlobData)
    case blobMissing(BlobMissing)
    /// Not yet verified.
    case receipt(Receipt)
    /// What is on your disk? Numbered by who asks.
    case verify(UInt64)
    case verified(Verified)
    case waiting(Waiting)
    case hints(Hints)

    /// Largest body of a message that carries neither events nor chunks, in bytes.
    public static let controlLimit = 16 * 1024

    enum Kind: UInt8 {
        case hello = 16
        case have, want, answered, batch, blobState, blobWant, blobHashes, blobData, blobMissing, receipt
        case verify, verified
        case waiting = 30
        case hints
    }

    /// The largest body of a frame of this kind in bytes; `nil` for a kind that no message has.
    public static func limit(ofKind kind: UInt8) -> Int? {
        switch Kind(rawValue: kind) {
        case .hello: 4 * 1024
        case .have, .receipt, .verified, .hints: controlLimit
        case .verify: 8
        case .want, .answered: 96
        case .batch: Batch.maximumLength
        case .blobState: 32 + 1 + 1 + 255
        case .blobWant: 32 + 1 + 4
        case .blobHashes: 32 + 4 + BlobHashes.pageLength * 32
        case .blobData: 32 + 4 + 4 + BlobData.pieceLength
        case .blobMissing: 32
        case .waiting: 1
        case nil: nil
        }
    }

    /// The frame's kind and body.
    public var encoded: (kind: UInt8, body: [UInt8]) {
        switch self {
        case .hello(let hello): (Kind.hello.rawValue, hello.encoded)
        case .have(let have): (Kind.have.rawValue, have.encoded)
        case .want(let want): (Kind.want.rawValue, want.encoded)
        case .answered(let want): (Kind.answered.rawValue, want.encoded)
        case .batch(let bytes): (Kind.batch.rawValue, bytes)
        case .blobState(let state): (Kind.blobState.rawValue, state.encoded)
        case .blobWant(let want): (Kind.blobWant.rawValue, want.encoded)
        case .blobHashes(let hashes): (Kind.blobHashes.rawValue, hashes.encoded)
        case .blobData(let data): (Kind.blobData.rawValue, data.encoded)
        case .blobMissing(let missing): (Kind.blobMissing.rawValue, missing.root.digest.bytes)
        case .receipt(let receipt): (Kind.receipt.rawValue, receipt.bytes)
        case .verify(let question): (Kind.verify.rawValue, Self.encoded(question))
        case .verified(let answer): (Kind.verified.rawValue, answer.encoded)
        case .waiting(let word): (Kind.waiting.rawValue, word.encoded)
        case .hints(let hints): (Kind.hints.rawValue, hints.encoded)
        }
    }

    private static func encoded(_ number: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        return bytes
    }

    public init(kind: UInt8, body: [UInt8]) throws(WireError) {
        switch Kind(rawValue: kind) {
        case .hello: self = .hello(try Hello(decoding: body))
        case .have: self = .have(try Have(decoding: body))
        case .want: self = .want(try Want(decoding: body))
        case .answered: self = .answered(try Want(decoding: body))
        case .batch: self = .batch(body)
        case .blobState: self = .blobState(try BlobState(decoding: body))
        case .blobWant: self = .blobWant(try BlobWant(decoding: body))
        case .blobHashes: self = .blobHashes(try BlobHashes(decoding: body))
        case .blobData: self = .blobData(try BlobData(decoding: body))
        case .blobMissing:
            var reader = ByteReader(body)
            self = .blobMissing(BlobMissing(root: BlobRoot(try reader.bytes32())))
            try reader.finish()
        case .receipt: self = .receipt(try Receipt(decoding: body))
        case .verify:
            var reader = ByteReader(body)
            self = .verify(try reader.integer())
            try reader.finish()
        case .verified: self = .verified(try Verified(decoding: body))
        case .waiting: self = .waiting(try Waiting(decoding: body))
        case .hints: self = .hints(try Hints(decoding: body))
        case nil: throw .invalid(what: "message kind \(kind)")
        }
    }
}
