/// Cuts a stream of bytes into frames, wherever the reads cut it.
///
/// Pure: bytes in, frames or an error out. A frame's length is judged by its header, before any of its body; memory grows
/// with the bytes that came, never with a length that was only announced. What is accepted re-encodes to itself.
public struct FrameDecoder: Sendable {
    /// Longest body of a frame of unknown kind that is skipped, in bytes (docs/protocol.md, "Frames").
    public static let skippedLimit = 16 * 1024

    private static let compactAbove = 64 * 1024  // bytes already taken
    private let limit: @Sendable (UInt8) -> Int?
    private var buffer: [UInt8] = []
    private var head = 0
    private var skipping = 0  // bytes of a skipped body still to come

    /// - Parameter limit: Largest body of a kind, in bytes; `nil` for a kind that isn't known.
    public init(limit: @escaping @Sendable (UInt8) -> Int?) { self.limit = limit }

    /// Bytes that came and are in no frame yet.
    public var pendingCount: Int { buffer.count - head }

    /// Takes the next bytes of the stream.
    public mutating func feed(_ bytes: some Collection<UInt8>) {
        let skipped = pendingCount == 0 ? min(skipping, bytes.count) : 0
        skipping -= skipped
        buffer.append(contentsOf: bytes.dropFirst(skipped))
    }

    /// Takes the next complete frame off the stream; frames of unknown kinds that may be skipped are.
    ///
    /// - Returns: `nil` when more bytes are needed.
    /// - Throws: What the peer did wrong; every later call throws it again.
    public mutating func next() throws(FrameError) -> Frame? {
        while true {
            skip()
            guard skipping == 0, pendingCount >= Frame.headerLength else { return nil }
            let header = try checkedHeader()
            guard header.isKnown else {
                head += Frame.headerLength
                skipping = header.length
                continue
            }
            let start = head + Frame.headerLength
            guard buffer.count - start >= header.length else { return nil }
            let frame = Frame(
                kind: header.kind, flags: header.flags, body: Array(buffer[start..<start + header.length]))
            head = start + header.length
            compact()
            return frame
        }
    }

    private struct Header {
        let length: Int
        let kind: UInt8
        let flags: UInt8
        let isKnown: Bool
    }

    private func checkedHeader() throws(FrameError) -> Header {
        let length = buffer[head..<head + 4].reduce(0) { $0 << 8 | Int($1) }
        let kind = buffer[head + 4]
        let flags = buffer[head + 5]
        if flags & ~Frame.skippable != 0 { throw .unknownFlags(kind: kind, flags: flags) }
        let known = limit(kind)
        if known == nil, flags & Frame.skippable == 0 { throw .unknownKind(kind) }
        let limit = known ?? Self.skippedLimit
        if length > limit { throw .tooLong(kind: kind, length: length, limit: limit) }
        return Header(length: length, kind: kind, flags: flags, isKnown: known != nil)
    }

    private mutating func skip() {
        let skipped = min(skipping, pendingCount)
        skipping -= skipped
        head += skipped
        compact()
    }

    private mutating func compact() {
        if head == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.compactAbove)
            head = 0
        } else if head > Self.compactAbove {
            buffer.removeFirst(head)
            head = 0
        }
    }
}

/// What a peer's frame did wrong; it ends the link.
public enum FrameError: Error, Equatable, CustomStringConvertible {
    /// Lengths in bytes.
    case tooLong(kind: UInt8, length: Int, limit: Int)
    case unknownKind(UInt8)
    case unknownFlags(kind: UInt8, flags: UInt8)
    /// A frame of Transport's own whose body isn't what its kind says.
    case malformed(kind: UInt8)
    /// A frame that its kind forbids here, such as any before Link.
    case outOfOrder(kind: UInt8)

    public var description: String {
        switch self {
        case .tooLong(let kind, let length, let limit):
            "a frame of kind \(kind) and \(length) bytes; the limit is \(limit)"
        case .unknownKind(let kind): "a frame of unknown kind \(kind)"
        case .unknownFlags(let kind, let flags): "a frame of kind \(kind) with unknown flags \(flags)"
        case .malformed(let kind): "a malformed frame of kind \(kind)"
        case .outOfOrder(let kind): "a frame of kind \(kind) where none may come"
        }
    }
}
