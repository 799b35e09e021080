package import Identity

/// The encrypted stream of one connection: ciphertext on one side, plaintext on the other, no socket.
///
/// What stands between ``Opening`` or ``Link`` and the cryptography, so that both can be run without it. Used by one
/// thread at a time.
package protocol SecureStream: AnyObject, Sendable {
    /// Takes ciphertext that came from the peer.
    func feed(_ bytes: UnsafeRawBufferPointer)
    /// Goes on with the handshake as far as the bytes that came allow.
    func handshake() -> Handshake
    /// 32 bytes that both ends of this connection have, and no other connection; once the handshake is done.
    func exportedKey() -> [UInt8]
    /// Decrypts what came into `buffer`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Plaintext
    /// Encrypts all of `bytes`.
    func write(_ bytes: UnsafeRawBufferPointer)
    /// Says that nothing more is written.
    func writeEnd()
    /// Whether ciphertext is to be sent.
    var hasOutput: Bool { get }
    /// The ciphertext that is to be sent; no longer kept here.
    func takeOutput() -> [UInt8]
}

/// How far a handshake is.
package enum Handshake: Equatable {
    /// More bytes are needed.
    case wait
    /// The peer has shown that it holds this key.
    case done(PeerID)
    case refused(OpeningRefusal)
}

/// What decrypting gave.
package enum Plaintext: Equatable {
    case bytes(Int)
    /// More bytes are needed.
    case wait
    /// The peer said that nothing more comes.
    case end
    /// The bytes aren't what the peer encrypted, or break a rule; which, for the log.
    case failed(String)
}
