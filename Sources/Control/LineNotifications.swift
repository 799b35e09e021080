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
        let same: Repeated
        if let repeated, repeated.fits(line, cursor.birth) {
            same = repeated
        } else {
            same = Repeated(line, cursor.birth)
            repeated = same
        }
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
        count += 1
        return true
    }
}
