/// What a peer must hold to be let into a room: a secret of 32 bytes.
///
/// An open room's is its RoomID, so that a stale port never links two rooms. Never printed, never sent.
public struct RoomKey: Sendable, Equatable, CustomStringConvertible {
    public static let length = 32  // bytes

    public let room: RoomID
    private let proofKey: [UInt8]
    private let advertKey: [UInt8]

    /// The key that whoever knows an open room's name has.
    public init(openRoom room: RoomID) { self.init(room: room, bytes: room.bytes) }

    /// A keyed room's secret; `nil` unless there are exactly 32 bytes.
    public init?(room: RoomID, secret: [UInt8]) {
        guard secret.count == Self.length else { return nil }
        self.init(room: room, bytes: secret)
    }

    private init(room: RoomID, bytes: [UInt8]) {
        self.room = room
        proofKey = HMAC.derivedKey(from: bytes, info: Array("groupchat-proof-v1\0".utf8) + room.bytes)
        advertKey = HMAC.derivedKey(from: bytes, info: Array("groupchat-advert-v1\0".utf8) + room.bytes)
    }

    /// What only a holder of the key can say about `statement` (docs/protocol.md, "Room proof"): 32 bytes.
    public func proof(of statement: [UInt8]) -> [UInt8] { HMAC.code(of: statement, key: proofKey) }

    /// By which holders of the key tell an advert of this room from others (docs/protocol.md, "Discovery"): 8 bytes.
    public func tag(ofInstance instance: [UInt8]) -> [UInt8] {
        Array(HMAC.code(of: instance, key: advertKey).prefix(8))
    }

    public var description: String { "RoomKey of \(room.suffix)" }
}
