import Identity

/// The frames that Transport itself speaks, kinds 0 to 15.
///
/// Their flags are always 0.
///
/// | kind | name | body |
/// | --- | --- | --- |
/// | 0 | Link | ``Introduction``: 26 or 82 bytes; the first frame each way |
/// | 1 | Ping | u64 nonce |
/// | 2 | Pong | u64, the nonce of the Ping that it answers |
/// | 3 | Goodbye | u8 reason (``Farewell``); the last frame on a link in its direction |
/// | 4 | BlobLink | empty; asks the chat link's dialler to dial a blob link |
/// | 5 to 15 | | not used |
package enum TransportMessage: Equatable, Sendable {
    case link(Introduction)
    case ping(UInt64)
    case pong(UInt64)
    case goodbye(Farewell)
    case blobLink

    /// Largest body of a kind in bytes; `nil` for kinds that aren't Transport's or aren't used.
    static func limit(ofKind kind: UInt8) -> Int? {
        switch kind {
        case 0: Introduction.longest
        case 1, 2: 8
        case 3: 1
        case 4: 0
        default: nil
        }
    }

    package init(_ frame: Frame) throws(FrameError) {
        guard let message = Self.parse(frame) else { throw .malformed(kind: frame.kind) }
        self = message
    }

    private static func parse(_ frame: Frame) -> TransportMessage? {
        guard frame.flags == 0 else { return nil }
        let body = frame.body
        switch frame.kind {
        case 0: return Introduction(body).map { .link($0) }
        case 1: return body.count == 8 ? .ping(integer(body[...])) : nil
        case 2: return body.count == 8 ? .pong(integer(body[...])) : nil
        case 3: return body.first.map { .goodbye(Farewell(rawValue: $0)) }
        case 4: return body.isEmpty ? .blobLink : nil
        default: return nil
        }
    }

    package var frame: Frame {
        switch self {
        case .link(let introduction): Frame(kind: 0, body: introduction.bytes)
        case .ping(let nonce): Frame(kind: 1, body: bigEndian(nonce))
        case .pong(let nonce): Frame(kind: 2, body: bigEndian(nonce))
        case .goodbye(let reason): Frame(kind: 3, body: [reason.rawValue])
        case .blobLink: Frame(kind: 4, body: [])
        }
    }
}

/// The body of a Link frame.
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | purpose: 1 chat, 2 blob |
/// | 16 | the sender's process instance |
/// | 8 | dial number: the dialler's; the acceptor repeats it |
/// | 1 | 1 if the dialler replaces a link that it found silent, else 0; always 0 from the acceptor |
/// | 32 | only after 1: that link's dialler, its PeerID |
/// | 16 | only after 1: that dialler's process instance |
/// | 8 | only after 1: that link's dial number |
package struct Introduction: Equatable, Sendable {
    static let longest = 82
    private static let shortest = 26

    package var purpose: LinkPurpose
    package var instance: ProcessInstance
    package var number: UInt64
    package var replaces: LinkName?

    package init(purpose: LinkPurpose, instance: ProcessInstance, number: UInt64, replaces: LinkName? = nil) {
        self.purpose = purpose
        self.instance = instance
        self.number = number
        self.replaces = replaces
    }

    init?(_ body: [UInt8]) {
        guard body.count >= Self.shortest, let purpose = LinkPurpose(rawValue: body[0]),
            let instance = ProcessInstance(body[1..<17])
        else { return nil }
        self.init(purpose: purpose, instance: instance, number: integer(body[17..<25]))
        switch body[25] {
        case 0: guard body.count == Self.shortest else { return nil }
        case 1:
            guard body.count == Self.longest, let dialler = PeerID(body[26..<58]),
                let instance = ProcessInstance(body[58..<74])
            else { return nil }
            replaces = LinkName(dialler: dialler, instance: instance, number: integer(body[74..<82]))
        default: return nil
        }
    }

    var bytes: [UInt8] {
        var bytes = [purpose.rawValue] + instance.bytes + bigEndian(number)
        guard let replaces else { return bytes + [0] }
        bytes.append(1)
        return bytes + replaces.dialler.bytes + replaces.instance.bytes + bigEndian(replaces.number)
    }
}

/// Why a side says goodbye.
///
/// A reason that isn't known is taken as the end of the link, nothing more.
package struct Farewell: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The process leaves the room.
    package static let leaving = Farewell(rawValue: 1)
    /// Another link between the two peers is kept.
    package static let duplicate = Farewell(rawValue: 2)
    /// Another process shows the same PeerID and is alive.
    package static let clone = Farewell(rawValue: 3)
    /// A blob link that wasn't used.
    package static let idle = Farewell(rawValue: 4)
    /// The other side broke a rule.
    package static let error = Farewell(rawValue: 5)

    package var description: String {
        switch self {
        case .leaving: "it leaves"
        case .duplicate: "another link is kept"
        case .clone: "another process uses this identity"
        case .idle: "the link was idle"
        case .error: "it found an error in what we sent"
        default: "reason \(rawValue)"
        }
    }
}

private func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

private func bigEndian(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: value)
    return bytes
}
