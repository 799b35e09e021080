public import SystemCalls

/// Cuts a byte stream into lines.
///
/// A line ends at the byte 0x0A and nowhere else; one CR before it is dropped. Bytes are decoded as whole lines only,
/// so it doesn't matter where reads cut them.
public struct LineSplitter: Sendable {
    public struct Line: Sendable {
        public var bytes: ArraySlice<UInt8>
        /// What came beside the line's bytes.
        public var descriptor: Descriptor?
    }

    /// Whether the next line is longer than the limit; nothing more comes then.
    public private(set) var isOverLimit = false

    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var scanned = 0
    private var arrived: [(position: Int, descriptor: Descriptor)] = []

    /// - Parameter limit: The longest line in bytes, without its end.
    public init(limit: Int) { self.limit = limit }

    /// Adds what one read brought.
    ///
    /// The kernel ends a read after the bytes that a descriptor came with. So it belongs to the line of the read's
    /// last byte, provided that its sender sent nothing but that line with it.
    public mutating func append(_ more: some Collection<UInt8>, descriptor: Descriptor? = nil) {
        if start > 0, start >= bytes.count / 2 { compact() }
        bytes += more
        if let descriptor { arrived.append((bytes.count - 1, descriptor)) }
    }

    /// The next whole line; `nil` when there is none, or when ``isOverLimit``.
    public mutating func next() -> Line? {
        if isOverLimit { return nil }
        guard let end = bytes[scanned...].firstIndex(of: 0x0A) else {
            scanned = bytes.count
            isOverLimit = bytes.count - start > limit + 1  // its CR doesn't count
            return nil
        }
        return take(upTo: end)
    }

    /// What is left at the end of the stream: a last line without its end.
    public mutating func finish() -> Line? {
        isOverLimit || start == bytes.count ? nil : take(upTo: bytes.count)
    }

    private mutating func take(upTo end: Int) -> Line? {
        var line = bytes[start..<end]
        if line.last == 0x0D { line.removeLast() }
        if line.count > limit {
            isOverLimit = true
            return nil
        }
        start = min(end + 1, bytes.count)
        scanned = start
        if arrived.isEmpty { return Line(bytes: line) }
        let own = arrived.prefix { $0.position <= end }
        arrived.removeFirst(own.count)
        return Line(bytes: line, descriptor: own.last?.descriptor)
    }

    private mutating func compact() {
        bytes.removeSubrange(..<start)
        scanned -= start
        arrived = arrived.map { ($0.position - start, $0.descriptor) }
        start = 0
    }
}
