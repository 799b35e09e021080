public import Identity

/// What lets a host into a keyed room: the line that begins with `chat-key:`.
///
/// Whoever has it can join and read. Behind `chat-key:` come lower-case hexadecimal digits of:
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | version: 1 |
/// | 1 and as many | length of the room's name, the name |
/// | 16 | seed: random, so that two keyed rooms of one name are two rooms |
/// | 4 | epoch: 0; rises when the owner changes the key |
/// | 32 | the key |
/// | 32 | the owner's PeerID |
/// | 4 | the first of the SHA-256 of `groupchat-key-v1` NUL and all of the above |
public struct ChatKey: Sendable, Equatable, CustomStringConvertible {
    public static let prefix = "chat-key:"
    public static let seedLength = 16  // bytes
    /// No key is longer, in characters.
    public static let longest = prefix.count + 2 * (fixedLength + Names.maximumRoomLength)

    private static let version: UInt8 = 1
    private static let checksumLength = 4  // bytes
    private static let fixedLength = 2 + seedLength + 4 + RoomKey.length + 32 + checksumLength
    /// Different bytes that 32 random ones have at least: fewer happen once in 10^16 times.
    private static let leastVariety = 16

    public let room: String
    public let seed: [UInt8]
    public let epoch: UInt32
    public let owner: PeerID
    private let secret: [UInt8]

    /// Makes a new room's key from the system's randomness.
    ///
    /// - Parameters:
    ///   - room: A valid room name, in lower case.
    ///   - owner: Who may change the key later.
    public init(newRoom room: String, owner: PeerID) {
        precondition(Names.complaint(room: room) == nil, "an invalid room name")
        self.room = room
        self.owner = owner
        seed = randomBytes(Self.seedLength)
        epoch = 0
        secret = randomBytes(RoomKey.length)
    }

    /// Parses a key; white space around it doesn't matter.
    public init(_ text: String) throws(ChatKeyError) {
        let text = text.utf8.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed()
        guard text.starts(with: Self.prefix.utf8) else { throw .notAKey }
        guard text.count <= Self.longest,
            let bytes = [UInt8](hexadecimal: String(decoding: text.dropFirst(Self.prefix.utf8.count), as: UTF8.self)),
            bytes.count > Self.checksumLength, text.elementsEqual((Self.prefix + bytes.hexadecimal).utf8),
            bytes.suffix(Self.checksumLength) == Self.checksum(bytes.dropLast(Self.checksumLength))
        else { throw .damaged }
        guard bytes[0] == Self.version else { throw .version(bytes[0]) }
        do throws(WireError) {
            var reader = ByteReader(bytes.dropLast(Self.checksumLength))
            _ = try reader.byte()
            room = try reader.text(Int(try reader.byte()), "the room's name")
            seed = try reader.take(Self.seedLength)
            epoch = try reader.integer()
            secret = try reader.take(RoomKey.length)
            owner = try reader.peer()
            try reader.finish()
        } catch { throw .damaged }
        if Names.complaint(room: room) != nil { throw .damaged }
        if Set(secret).count < Self.leastVariety { throw .weak }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func checksum(_ bytes: some Sequence<UInt8>) -> ArraySlice<UInt8> {
        SHA256.digest(of: Array("groupchat-key-v1\0".utf8) + bytes).bytes.prefix(checksumLength)
    }

    /// The whole line, without its end.
    ///
    /// Give it only to who may read the room.
    public var text: String {
        var bytes = [Self.version, UInt8(room.utf8.count)] + room.utf8 + seed
        bytes.append(bigEndian: epoch)
        bytes += secret + owner.bytes
        return Self.prefix + (bytes + Self.checksum(bytes)).hexadecimal
    }

    public var roomID: RoomID { RoomID(keyedRoom: room, seed: seed, owner: owner) }

    /// What peers of the room prove to each other.
    public var roomKey: RoomKey {
        guard let key = RoomKey(room: roomID, secret: secret) else { preconditionFailure("a key of another length") }
        return key
    }

    /// Says nothing secret.
    public var description: String { "key of room '\(room)' (\(roomID.suffix))" }
}

/// Why a text is no usable key; none of it is repeated here.
public enum ChatKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    case notAKey
    /// Cut, mistyped, or not as written by this program.
    case damaged
    case version(UInt8)
    /// The secret isn't random.
    case weak

    public var description: String {
        switch self {
        case .notAKey: "it doesn't begin with \(ChatKey.prefix)"
        case .damaged: "the key is damaged; copy all of it"
        case .version(let version): "the key is of version \(version), which this chatd doesn't know"
        case .weak: "the key is weak; make one with: chat key new"
        }
    }
}
