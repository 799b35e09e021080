import Identity

@testable import ChatModel
@testable import Control
@testable import Discovery
@testable import Transport

/// One parser each; what it takes must encode to itself, and what it shows must be harmless.
let targets: [String: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt] = [
    "frames": { run($0, $1, Fuzzed.frames) },
    "message": { run($0, $1, Fuzzed.message) },
    "batch": { run($0, $1, Fuzzed.batch) },
    "event": { run($0, $1, Fuzzed.event) },
    "txt": { run($0, $1, Fuzzed.txt) },
    "name": { run($0, $1, Fuzzed.dnsName) },
    "request": { run($0, $1, Fuzzed.request) },
    "text": { run($0, $1, Fuzzed.text) },
    "image": { run($0, $1, Fuzzed.image) },
    "key": { run($0, $1, Fuzzed.key) },
    "opening": { run($0, $1, Fuzzed.opening) },
    "query": { run($0, $1, Fuzzed.query) },
]

private func run(_ bytes: UnsafePointer<UInt8>?, _ length: Int, _ body: ([UInt8]) -> Void) -> CInt {
    body(Array(UnsafeBufferPointer(start: bytes, count: length)))
    return 0
}

enum Fuzzed {
    static let room = RoomID(openRoom: "lab")

    /// One stream in whole and in pieces, whose length the first byte says.
    static func frames(_ bytes: [UInt8]) {
        guard let step = bytes.first.map({ Int($0) + 1 }) else { return }
        let stream = Array(bytes.dropFirst())
        let (whole, ending) = decoded([stream[...]])
        let pieces = stride(from: 0, to: stream.count, by: step).map { stream[$0..<min($0 + step, stream.count)] }
        let (parts, partsEnding) = decoded(pieces)
        precondition(whole == parts && ending == partsEnding, "where the reads cut the stream makes a difference")
        precondition(isCut(stream, into: whole), "a frame that is taken encodes to itself")
    }

    /// Whether these frames, and between them none but of unknown kinds, are the stream's front.
    private static func isCut(_ stream: [UInt8], into frames: [Frame]) -> Bool {
        var rest = stream[...]
        for frame in frames {
            while SessionMessage.limit(ofKind: rest[rest.startIndex + 4]) == nil {
                let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(Frame.headerLength + length)
            }
            guard rest.starts(with: frame.encoded) else { return false }
            rest = rest.dropFirst(frame.encodedLength)
        }
        return true
    }

    private static func decoded(_ pieces: [ArraySlice<UInt8>]) -> ([Frame], FrameError?) {
        var decoder = FrameDecoder(limit: SessionMessage.limit(ofKind:))
        var frames: [Frame] = []
        do throws(FrameError) {
            for piece in pieces {
                decoder.feed(piece)
                while let frame = try decoder.next() { frames.append(frame) }
            }
            return (frames, nil)
        } catch { return (frames, error) }
    }

    /// The first byte is the kind.
    static func message(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        if let message = try? SessionMessage(kind: kind, body: body) {
            precondition(message.encoded == (kind, body), "a message that is taken encodes to itself")
        }
        // FrameDecoder lets nothing longer through.
        guard body.count <= TransportMessage.limit(ofKind: kind) ?? 0 else { return }
        if let message = try? TransportMessage(Frame(kind: kind, body: body)) {
            precondition(message.frame.body == body, "a message that is taken encodes to itself")
        }
    }

    static func batch(_ bytes: [UInt8]) {
        guard let batch = try? Batch(stored: bytes, in: room) else { return }
        precondition(batch.bytes == bytes && batch.ids.count == batch.events.count)
        for (index, event) in batch.events.enumerated() {
            _ = Transcript(event, id: batch.ids[index], by: batch.log.author, isOwn: false)
        }
    }

    /// The first byte is the kind.
    static func event(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        guard let decoded = try? EventBody.decode(EventKind(kind), body) else { return }
        precondition(
            decoded.body.encoded(authorName: decoded.authorName) == body, "a body that is taken encodes to itself")
    }

    /// Strings with their lengths before them, as on the wire.
    static func txt(_ bytes: [UInt8]) {
        var strings: [[UInt8]] = []
        var rest = bytes[...]
        while let length = rest.popFirst() {
            strings.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        if let peer = AdvertText.peer(in: strings, room: "lab") {
            precondition(AdvertText.peer(in: AdvertText.strings(room: "lab", peer: peer), room: "lab") == peer)
        }
    }

    static func dnsName(_ bytes: [UInt8]) {
        guard let name = DNSName(parsing: String(decoding: bytes, as: UTF8.self)) else { return }
        precondition(DNSName(parsing: name.text)?.labels == name.labels, "a name that is taken reads back")
    }

    static func request(_ bytes: [UInt8]) {
        var splitter = LineSplitter(limit: 4_096)
        splitter.append(bytes)
        while let line = splitter.next() { request(line) }
        if let line = splitter.finish() { request(line) }
    }

    /// What is read without a JSON decoder must mean the same to one.
    private static func request(_ line: LineSplitter.Line) {
        _ = ParsedRequest(line)
        guard String(validating: line.bytes, as: UTF8.self) != nil, let (id, send) = SendScanner.scan(line.bytes) else {
            return
        }
        let head = try? JSONLine.decode(RequestHead.self, from: line.bytes)
        let body = try? JSONLine.decode(RequestBody<SendParameters>.self, from: line.bytes)
        precondition(head?.method == "send" && head?.id == id, "the decoder reads another call")
        precondition(
            body.map { $0.params.text.utf8.elementsEqual(send.text.utf8) && $0.params.nonce == send.nonce } == true,
            "the decoder reads other parameters")
    }

    static func text(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        requireHarmless(SafeText.line(text), allowing: [])
        requireHarmless(SafeText.name(text), allowing: [])
        for line in SafeText.block(text) { requireHarmless(line, allowing: ["\t"]) }
        _ = DisplayWidth.truncated(SafeText.line(text), to: 20)
        _ = Names.skeleton(of: text)
        _ = Names.fileName(forImageNamed: text)
    }

    private static func requireHarmless(_ text: String, allowing kept: Set<Unicode.Scalar>) {
        for scalar in text.unicodeScalars where !kept.contains(scalar) {
            switch scalar.value {
            case 0x00...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0x061C,
                0xFFF9...0xFFFB, 0xE0000...0xE007F:
                preconditionFailure("U+\(String(scalar.value, radix: 16)) reaches a terminal")
            default: break
            }
        }
    }

    static func image(_ bytes: [UInt8]) { _ = ImageHeader(front: bytes) }

    static func query(_ bytes: [UInt8]) {
        let word = String(decoding: bytes, as: UTF8.self)
        if case .several(let peers) = PeerQuery.find(word, among: Seeds.names) {
            _ = PeerQuery.list(peers, names: Seeds.names)
        }
    }
}
