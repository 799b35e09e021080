import ChatModel
import Identity

@testable import Transport

extension Fuzzed {
    /// A key as text, or, if the first byte is odd, as what stands in one: it gets its checksum and digits here.
    static func key(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let text = first.isMultiple(of: 2) ? String(decoding: rest, as: UTF8.self) : chatKey(of: rest)
        guard let key = try? ChatKey(text) else { return }
        precondition((try? ChatKey(key.text)) == key, "a key that is taken reads back")
        let words = text.utf8.split { $0 == 32 || (9...13).contains($0) }
        precondition(words.count == 1 && words[0].elementsEqual(key.text.utf8), "a key has one text")
    }

    static func chatKey(of content: [UInt8]) -> String {
        let sum = SHA256.digest(of: Array("groupchat-key-v1\0".utf8) + content).bytes.prefix(4)
        return ChatKey.prefix + (content + sum).hexadecimal
    }

    /// What a peer says in an opening, without the cryptography: the first byte says which side we are and whether the
    /// proof is right where the bytes have 0xAA for it.
    static func opening(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let isDialler = first & 1 == 1
        let (own, peer) = (Seeds.key.peer, Seeds.otherKey.peer)
        let stream = ScriptedStream(peer: first & 2 == 2 ? own : peer)
        let opening = Opening(stream, key: Seeds.roomKey, own: own, isDialler: isDialler)
        let proof = RoomProof(
            Seeds.roomKey, exported: stream.exportedKey(), initiator: isDialler ? own : stream.peer,
            responder: isDialler ? stream.peer : own)
        stream.proof = isDialler ? proof.responder : proof.initiator
        var step = Opening.Step.wait
        if isDialler { step = opening.feed([]).step }
        var rest = bytes.dropFirst()
        while step == .wait, let length = rest.popFirst() {
            let part = Array(rest.prefix(Int(length)))
            rest = rest.dropFirst(part.count)
            step = opening.feed(part).step
            if !isDialler, step == .wait { precondition(stream.said.isEmpty, "the acceptor speaks before the proof") }
        }
        switch step {
        case .opened(let opened):
            precondition(opened == stream.peer && opened != own && stream.hasProof, "opened without a proof")
        case .refuse where !isDialler: precondition(stream.said.isEmpty, "a refusal says nothing")
        case .wait, .refuse: break
        }
    }
}

/// TLS as an opening sees it.
///
/// Behind the record's two bytes each byte is an order: 0 refuses, 1 ends the handshake, 2 ends the stream, 3 fails; 0xAA
/// is the next byte of the right proof; others are plaintext.
///
/// `@unchecked`: used by the fuzzer's one thread.
private final class ScriptedStream: SecureStream, @unchecked Sendable {
    let peer: PeerID
    var proof: [UInt8] = []
    private(set) var said: [UInt8] = []
    private var input: [UInt8] = []
    private var skipped = 0
    private var position = 0
    private var right = 0
    private var isDone = false

    init(peer: PeerID) { self.peer = peer }

    /// Whether all of the right proof came, and nothing else before its end.
    var hasProof: Bool { right == RoomProof.length && position == RoomProof.length }

    func feed(_ bytes: UnsafeRawBufferPointer) {
        let header = min(2 - skipped, bytes.count)
        skipped += header
        input += bytes.dropFirst(header)
    }

    func handshake() -> Handshake {
        guard !input.isEmpty else { return .wait }
        switch input.removeFirst() {
        case 0: return .refused(.notAPeer("the script says so"))
        case 1:
            isDone = true
            return .done(peer)
        default: return .wait
        }
    }

    func exportedKey() -> [UInt8] { [UInt8](repeating: 9, count: 32) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Plaintext {
        precondition(isDone && buffer.count <= RoomProof.length, "reads before the handshake's end, or too much")
        guard let order = input.first else { return .wait }
        if order == 2 { return .end }
        if order == 3 { return .failed("the script says so") }
        let count = min(buffer.count, input.count, 1 + Int(order) % RoomProof.length)
        for index in 0..<count {
            let byte = input.removeFirst()
            let isRight = byte == 0xAA && position < proof.count
            buffer[index] = isRight ? proof[position] : byte
            if buffer[index] == (position < proof.count ? proof[position] : 0) { right += 1 }
            position += 1
        }
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) { said += bytes }
    func writeEnd() {}
    var hasOutput: Bool { !said.isEmpty }
    func takeOutput() -> [UInt8] { [] }
}
