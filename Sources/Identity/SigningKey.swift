import CSodium

/// A peer's secret key, and with it the right to speak as that peer.
///
/// Never printed, never sent.
public struct SigningKey: Sendable, CustomStringConvertible {
    public static let seedLength = 32  // bytes

    public let peer: PeerID
    private let secret: [UInt8]  // libsodium's 64 bytes: seed, public key

    /// Makes a new peer from the system's randomness.
    public init() {
        guard let key = SigningKey(seed: randomBytes(Self.seedLength)) else {
            preconditionFailure("libsodium can't make a key")
        }
        self = key
    }

    /// The key that a stored seed of 32 bytes stands for; `nil` for any other count.
    public init?(seed: [UInt8]) {
        guard seed.count == Self.seedLength, Sodium.isReady else { return nil }
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
        var secret = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
        crypto_sign_seed_keypair(&publicKey, &secret, seed)
        guard let peer = PeerID(publicKey) else { return nil }
        self.peer = peer
        self.secret = secret
    }

    /// What to store: 32 bytes.
    public var seed: [UInt8] { Array(secret.prefix(Self.seedLength)) }

    /// Signs exactly these bytes.
    ///
    /// They must begin with a type string that no other use shares.
    public func sign(_ message: [UInt8]) -> Signature {
        var signature = [UInt8](repeating: 0, count: Signature.length)
        crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret)
        return Signature(made: signature)
    }

    public var description: String { "SigningKey of \(peer)" }
}
