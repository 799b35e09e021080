import CSodium

enum Sodium {
    /// Whether libsodium is initialised; asking does it, once for the process.
    static let isReady = sodium_init() >= 0
}

/// SHA-256 (FIPS 180-4) of bytes in memory.
public enum SHA256 {
    public static func digest(of bytes: [UInt8]) -> Bytes32 {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        guard let value = Bytes32(digest) else { preconditionFailure("SHA-256 gives 32 bytes") }
        return value
    }
}

/// Bytes from the system's cryptographic random source (getrandom(2)).
public func randomBytes(_ count: Int) -> [UInt8] {
    precondition(Sodium.isReady, "libsodium can't be initialised")
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
}
