/// Which room: a name alone for an open one, so that whoever knows the name finds the same room; more for a keyed one.
public struct RoomID: Hashable, Sendable, CustomStringConvertible {
    public let digest: Bytes32

    /// The open room of a name (docs/protocol.md, "Names for things").
    ///
    /// - Parameter name: A valid room name, already in lower case.
    public init(openRoom name: String) {
        digest = SHA256.digest(of: Array("groupchat-room-v1\0open\0\(name)".utf8))
    }

    /// The keyed room of a name, which an open one of that name never meets.
    ///
    /// - Parameters:
    ///   - name: A valid room name, already in lower case.
    ///   - seed: 16 bytes that were made with the room's first key.
    ///   - owner: Who made it.
    public init(keyedRoom name: String, seed: [UInt8], owner: PeerID) {
        digest = SHA256.digest(of: Array("groupchat-room-v1\0keyed\0\(name)\0".utf8) + seed + owner.bytes)
    }

    /// A room that came from outside, such as in a peer's first bytes.
    public init(_ digest: Bytes32) { self.digest = digest }

    public var bytes: [UInt8] { digest.bytes }
    /// 64 lower-case hexadecimal digits.
    public var description: String { digest.hexadecimal }
    /// The first eight digits, which tell rooms of one name apart in file names.
    public var suffix: String { String(description.prefix(8)) }
}
