public import Identity

/// What two people read to each other to know that nobody stands between them.
public enum PairCode {
    private static let groups = 6  // of five digits: 99 bits

    /// The code of two peers, the same on both screens: `12345 67890 12345 67890 12345 67890`.
    ///
    /// Thirty decimal digits of SHA-256 over `groupchat-pair-v1` NUL and both keys, the smaller one first
    /// (docs/security.md, "Comparing codes").
    public static func text(of one: PeerID, and other: PeerID) -> String {
        let digest = SHA256.digest(
            of: Array("groupchat-pair-v1\0".utf8) + min(one, other).bytes + max(one, other).bytes)
        var number = digest.bytes.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
        var text: [String] = []
        for _ in 0..<groups {
            let digits = String(number % 100_000)
            text.append(String(repeating: "0", count: 5 - digits.count) + digits)
            number /= 100_000
        }
        return text.joined(separator: " ")
    }
}
