import ChatModel
import Identity

/// A blob's size and the hashes of its chunks, which together are what its root is over.
struct BlobHashList {
    let size: UInt64
    let hashes: [Bytes32]

    var root: BlobRoot { BlobRoot(size: size, chunkHashes: hashes) }

    init(size: UInt64, hashes: [Bytes32]) {
        self.size = size
        self.hashes = hashes
    }

    /// Takes what ``encoded`` gave; `nil` for anything that no list encodes to.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        size = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        guard size <= ImageInfo.maximumSize, bytes.count == 8 + 32 * BlobRoot.chunkCount(size: size) else { return nil }
        hashes = stride(from: 8, to: bytes.count, by: 32).compactMap { Bytes32(bytes[$0..<$0 + 32]) }
    }

    /// The size in eight bytes, most significant first, then the hashes.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: size)
        for hash in hashes { bytes += hash.bytes }
        return bytes
    }
}

extension BlobHashList {
    /// Of the longest list, in bytes.
    static let maximumLength = UInt64(8 + 32 * BlobRoot.chunkCount(size: ImageInfo.maximumSize))
}
