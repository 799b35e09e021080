import COpenSSL
import ChatModel
import Glibc
import Identity
import SystemCalls

/// Reading, writing and hashing a file in chunks of 1 MiB, of which one at a time is in memory.
struct Chunks {
    let file: Descriptor
    /// Of the whole, in bytes.
    let size: UInt64
    /// What errors call the file.
    let subject: String

    var count: Int { BlobRoot.chunkCount(size: size) }

    /// - Returns: Fewer bytes than the chunk has if the file ends before.
    func read(_ index: Int) throws(SystemCallError) -> [UInt8] {
        let length = BlobRoot.length(ofChunk: index, size: size)
        var failure: SystemCallError?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            do throws(SystemCallError) {
                while initialized < length, let start = buffer.baseAddress {
                    let count = try systemCall("read", subject) {
                        pread(file.number, start + initialized, length - initialized, offset(index) + initialized)
                    }
                    if count == 0 { break }
                    initialized += count
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: [UInt8], at index: Int) throws(SystemCallError) {
        var written = 0
        while written < bytes.count {
            written += try systemCall("write", subject) {
                bytes.withUnsafeBytes { buffer in
                    pwrite(
                        file.number, buffer.baseAddress.map { $0 + written }, bytes.count - written,
                        offset(index) + written)
                }
            }
        }
    }

    /// Whether any byte of the chunk was ever written.
    func hasData(_ index: Int) -> Bool {
        guard let next = nextData(in: file.number, from: Int64(offset(index))) else { return false }
        return next < Int64(offset(index) + BlobRoot.length(ofChunk: index, size: size))
    }

    private func offset(_ index: Int) -> Int { index * BlobRoot.chunkLength }

    /// SHA-256, by OpenSSL, which uses the processor's own instructions for it.
    static func hash(_ bytes: [UInt8]) -> Bytes32 {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        let isDone = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1
        guard isDone, let hash = Bytes32(digest.prefix(32)) else { preconditionFailure("OpenSSL has no SHA-256") }
        return hash
    }
}
