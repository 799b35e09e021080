package import Identity

/// What travels over a link: a kind, flags, and a body that means nothing here unless the kind is Transport's own.
///
/// On the wire, all integers big-endian:
///
/// | bytes | what |
/// | --- | --- |
/// | 4 | length of the body alone |
/// | 1 | kind: 0 to 15 are Transport's (``TransportMessage``), 16 to 255 the session's |
/// | 1 | flags: bit 0 says that whoever doesn't know the kind may skip the frame; the other bits are 0 |
/// | length | body |
public struct Frame: Sendable, Equatable {
    public var kind: UInt8
    public var flags: UInt8
    public var body: [UInt8]

    /// Bytes before the body.
    public static let headerLength = 6
    /// Flag bit 0: a receiver that doesn't know the kind skips the frame.
    public static let skippable: UInt8 = 1
    /// The first kind that belongs to the session.
    public static let firstSessionKind: UInt8 = 16

    public init(kind: UInt8, flags: UInt8 = 0, body: [UInt8]) {
        self.kind = kind
        self.flags = flags
        self.body = body
    }

    /// Header and body, in bytes.
    public var encodedLength: Int { Self.headerLength + body.count }

    /// The frame as it goes over the wire.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encodedLength)
        append(to: &bytes)
        return bytes
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: UInt32(body.count))
        bytes.append(kind)
        bytes.append(flags)
        bytes.append(contentsOf: body)
    }
}

/// What a link carries: conversation and presence, or the bytes of images and files.
public enum LinkPurpose: UInt8, Sendable, CaseIterable {
    case chat = 1
    case blob = 2
}

/// One process's life: 16 random bytes made at its start.
package struct ProcessInstance: Hashable, Sendable {
    static let length = 16
    package let bytes: [UInt8]

    package init() { bytes = randomBytes(Self.length) }

    /// - Returns: `nil` unless there are exactly 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }
}

/// Names a link the same way on both of its sides.
package struct LinkName: Hashable, Sendable {
    package let dialler: PeerID
    /// The dialler's.
    package let instance: ProcessInstance
    /// Rises with every dial of one process, starting at 1.
    package let number: UInt64

    package init(dialler: PeerID, instance: ProcessInstance, number: UInt64) {
        self.dialler = dialler
        self.instance = instance
        self.number = number
    }
}
