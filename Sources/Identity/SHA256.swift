import COpenSSL

/// SHA-256 (FIPS 180-4), all at once or piece by piece.
///
/// A copy goes on from where the original is, so that a beginning that many share is hashed once.
public struct SHA256: Sendable {
    private var state = SHA256_CTX()

    public init() { COpenSSL_sha256Begin(&state) }

    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        COpenSSL_sha256Add(&state, bytes.baseAddress, bytes.count)
    }

    /// The hash of all that was added.
    public var digest: Bytes32 { digest(with: UnsafeRawBufferPointer(start: nil, count: 0)) }

    /// The hash of all that was added, and of these bytes behind it.
    public func digest(with last: UnsafeRawBufferPointer) -> Bytes32 {
        var copy = state
        if !last.isEmpty { COpenSSL_sha256Add(&copy, last.baseAddress, last.count) }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { bytes in
            COpenSSL_sha256End(&copy, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        return Bytes32(inMemory: words)
    }

    public static func digest(of bytes: [UInt8]) -> Bytes32 { bytes.withUnsafeBytes { digest(of: $0) } }

    public static func digest(of bytes: UnsafeRawBufferPointer) -> Bytes32 { SHA256().digest(with: bytes) }
}
