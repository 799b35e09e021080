import CSodium

enum Sodium {
    /// Whether libsodium is initialised; asking does it, once for the process.
    static let isReady = sodium_init() >= 0
}

/// HMAC with SHA-256 (RFC 2104), and keys made by it (HKDF, RFC 5869).
public enum HMAC {
    /// The code of a message under a key of any length; 32 bytes.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        crypto_auth_hmacsha256_final(&state, &code)
        return code
    }

    /// The first 32 bytes of HKDF without salt.
    public static func derivedKey(from secret: [UInt8], info: [UInt8]) -> [UInt8] {
        let extracted = code(of: secret, key: [UInt8](repeating: 0, count: 32))
        return code(of: info + [1], key: extracted)
    }

    /// Whether two codes are the same, in a time that doesn't depend on where they differ.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && sodium_memcmp(left, right, left.count) == 0
    }
}

/// Bytes from the system's cryptographic random source (getrandom(2)).
public func randomBytes(_ count: Int) -> [UInt8] {
    precondition(Sodium.isReady, "libsodium can't be initialised")
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
}
