import CSodium
import Locking

/// Who a peer is: its Ed25519 public key (RFC 8032).
///
/// Nothing else identifies a peer: not its name, its address, nor what is announced about it. Ordered by the key's
/// bytes, which decides between two links that both sides dialled (docs/protocol.md, "Duplicate links").
@frozen public struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let key: Bytes32

    /// Takes a key that came from outside.
    ///
    /// - Returns: `nil` unless the 32 bytes are a point of the curve's prime-order group: a small-order key would let
    ///   one signature pass for any message.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let key = Bytes32(bytes), Self.isScreened(key) else { return nil }
        self.key = key
    }

    /// Keys that passed, because screening one takes as long as verifying a signature, and each batch names its author.
    private static let screened = Locked<Set<Bytes32>>([])
    private static let screenedLimit = 4_096  // keys

    private static func isScreened(_ key: Bytes32) -> Bool {
        if screened.withLock({ $0.contains(key) }) { return true }
        guard Sodium.isReady, crypto_core_ed25519_is_valid_point(key.bytes) == 1 else { return false }
        let dropped = screened.withLock { screened in
            let old = screened
            if screened.count >= screenedLimit { screened = [] }
            screened.insert(key)
            return old
        }
        withExtendedLifetime(dropped) {}
        return true
    }

    /// Parses the text form, 64 hexadecimal digits; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.init(bytes)
    }

    public var bytes: [UInt8] { key.bytes }

    /// 64 lower-case hexadecimal digits.
    public var description: String { key.hexadecimal }

    /// The first six digits: enough to tell apart two peers of one name on a screen, never to identify one.
    public var suffix: String { key.withBytes { String(hexadecimal: UnsafeRawBufferPointer(rebasing: $0[..<3])) } }

    public static func < (left: PeerID, right: PeerID) -> Bool { left.key < right.key }
}

/// 64 bytes that only the holder of a peer's secret key can make for given bytes (RFC 8032).
public struct Signature: Hashable, Sendable {
    public static let length = 64
    public let bytes: [UInt8]

    /// - Returns: `nil` unless there are exactly 64 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }

    init(made bytes: [UInt8]) { self.bytes = bytes }
}

extension PeerID {
    /// Whether this peer's secret key made the signature for exactly these bytes; takes about 70 microseconds.
    public func verifies(_ signature: Signature, of message: [UInt8]) -> Bool {
        Sodium.isReady
            && crypto_sign_verify_detached(signature.bytes, message, UInt64(message.count), key.bytes) == 0
    }
}
