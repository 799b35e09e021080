public import ChatModel
import Identity

/// Many `line` notifications, one behind the other, as one client or several get them.
///
/// Of texts only what differs is written anew; each is byte for byte what ``ControlNotification/line(_:)`` gives.
public struct LineNotifications: Sendable {
    private(set) var bytes: [UInt8] = []
    /// How many there are.
    public private(set) var count = 0
    private var repeated: Repeated?

    /// What is the same in one author's texts.
    private struct Repeated {
        var author: PeerID
        var name: String
        var isOwn: Bool
        var birth: Incarnation
        /// Up to the cursor's number, between the number and the id, between the id and the text.
        var beginning: [UInt8]
        var middle: [UInt8]
        var end: [UInt8]

        init(_ line: Transcript, _ birth: Incarnation) {
            (author, name, isOwn, self.birth) = (line.peer, line.name, line.direction == .send, birth)
            var writer = JSONWriter()
            writer.append("{\"jsonrpc\":\"2.0\",\"method\":\"line\",\"params\":{\"line\":{\"author\":" as StaticString)
            writer.append(line.peer.description)
            writer.append(",\"cursor\":" as StaticString)
            writer.append(Cursor(birth: birth, arrival: 0).description)
            beginning = writer.bytes.dropLast(2)
            middle = Array("\",\"direction\":\"\(isOwn ? "send" : "receive")\",\"id\":\"".utf8)
            writer = JSONWriter()
            writer.append("\",\"kind\":\"text\",\"name\":" as StaticString)
            writer.append(line.name)
            writer.append(",\"suffix\":" as StaticString)
            writer.append(line.peer.suffix)
            writer.append(",\"text\":" as StaticString)
            end = writer.bytes
        }

        var length: Int { beginning.count + middle.count + end.count }

        func fits(_ line: Transcript, _ birth: Incarnation) -> Bool {
            author == line.peer && isOwn == (line.direction == .send) && self.birth == birth && name == line.name
        }
    }

    /// None yet; `length` is how long they may become, in bytes.
    public init(reserving length: Int = 0) { bytes.reserveCapacity(length) }

    /// Adds a row.
    public mutating func append(_ view: LineView) {
        guard let line = try? ControlNotification.line(view).encoded() else { return }
        bytes += line
        count += 1
    }

    /// Adds a text's row, if it is a text about which there is nothing odd.
    ///
    /// - Returns: Whether it was added; else it takes ``append(_:)``.
    public mutating func append(text line: Transcript, _ cursor: Cursor) -> Bool {
        guard case .text(let text) = line.content, let id = line.id, line.timing == .usual, line.delivery == nil,
            line.missing == 0,
            line.direction != .local
        else { return false }
        if repeated?.fits(line, cursor.birth) != true { repeated = Repeated(line, cursor.birth) }
        guard let same = repeated else { return false }
        count += 1
        if appendRow(same, text, id, line.time, cursor.arrival) { return true }
        var writer = JSONWriter(continuing: &bytes)
        writer.append(raw: same.beginning)
        writer.append(Int(clamping: cursor.arrival))
        writer.append(raw: same.middle)
        writer.append(digitsOf: id.digest)
        writer.append(raw: same.end)
        writer.append(text)
        writer.append(",\"time\":" as StaticString)
        writer.append(Int(clamping: line.time))
        writer.append("}}}\n" as StaticString)
        bytes = writer.bytes
        return true
    }

    /// Adds a row whose text stands for itself in JSON, in one piece.
    ///
    /// - Returns: Whether it was added.
    private mutating func appendRow(
        _ same: Repeated, _ text: String, _ id: EventID, _ time: UInt64, _ arrival: Int64
    ) -> Bool {
        let isAdded = text.utf8.withContiguousStorageIfAvailable { text in
            guard arrival >= 0, text.count <= Self.usualText, JSONWriter.standForThemselves(text) else { return false }
            let length = same.length + text.count + Self.furtherLength
            withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { row in
                var row = RowWriter(row)
                row.put(same.beginning)
                row.put(UInt64(clamping: arrival))
                row.put(same.middle)
                row.put(id.digest)
                row.put(same.end)
                row.put("\"" as StaticString)
                row.put(UnsafeRawBufferPointer(text))
                row.put("\",\"time\":" as StaticString)
                row.put(UInt64(clamping: Int(clamping: time)))
                row.put("}}}\n" as StaticString)
                bytes.append(contentsOf: row.written)
            }
            return true
        }
        return isAdded == true
    }

    private static let usualText = 512  // bytes
    /// What of a row is neither the text nor the same in all: two numbers, an id, and what stands around the text.
    private static let furtherLength = 20 + 64 + 20 + 16
}

/// Writes the parts of a row behind one another into memory that has room for all.
private struct RowWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private var end = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<end]) }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyMemory(from: bytes)
        end += bytes.count
    }

    mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes { put($0) } }

    mutating func put(_ literal: StaticString) {
        put(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func put(_ digest: Bytes32) {
        digest.withHexadecimal { put($0) }
    }

    mutating func put(_ number: UInt64) {
        var (length, rest) = (1, number / 10)
        while rest > 0 {
            length += 1
            rest /= 10
        }
        rest = number
        for index in stride(from: end + length - 1, through: end, by: -1) {
            memory[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        end += length
    }
}
