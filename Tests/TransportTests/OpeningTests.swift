import Identity
import Testing

@testable import Transport

/// A stream that encrypts nothing and whose handshake is two bytes each way.
private final class OpenStream: SecureStream, @unchecked Sendable {  // one test's alone
    static let hello: [UInt8] = [22, 3]
    private let exported: [UInt8]
    private let other: PeerID
    private let isDialler: Bool
    private var incoming: [UInt8] = []
    private var output: [UInt8] = []
    private var hasSpoken = false

    init(to other: PeerID, isDialler: Bool, exported: UInt8 = 7) {
        self.exported = [UInt8](repeating: exported, count: 32)
        self.other = other
        self.isDialler = isDialler
    }

    func feed(_ bytes: UnsafeRawBufferPointer) { incoming += bytes }

    func handshake() -> Handshake {
        if isDialler, !hasSpoken { speak() }
        guard incoming.count >= 2 else { return .wait }
        incoming.removeFirst(2)
        if incoming.first == 255 { return .refused(.notAPeer("a stub")) }
        if !isDialler { speak() }
        return .done(other)
    }

    private func speak() {
        hasSpoken = true
        output += Self.hello
    }

    func exportedKey() -> [UInt8] { exported }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Plaintext {
        if incoming.isEmpty { return .wait }
        let count = min(buffer.count, incoming.count)
        buffer.copyBytes(from: incoming.prefix(count))
        incoming.removeFirst(count)
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) { output += bytes }
    func writeEnd() {}
    var hasOutput: Bool { !output.isEmpty }

    func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }
}

@Suite struct OpeningTests {
    private let room = RoomKey(openRoom: RoomID(openRoom: "lab"))
    private let alice = SigningKey().peer
    private let bob = SigningKey().peer

    private var proof: RoomProof {
        RoomProof(room, exported: [UInt8](repeating: 7, count: 32), initiator: alice, responder: bob)
    }

    private func dialler() -> Opening {
        Opening(OpenStream(to: bob, isDialler: true), key: room, own: alice, isDialler: true)
    }

    private func acceptor(from other: PeerID? = nil) -> Opening {
        Opening(OpenStream(to: other ?? alice, isDialler: false), key: room, own: bob, isDialler: false)
    }

    private func isSame(_ progress: Opening.Progress, _ step: Opening.Step, _ output: [UInt8]) -> Bool {
        progress.step == step && progress.output == output
    }

    @Test func `the dialler proves first, the acceptor only when it has verified`() {
        let (dialler, acceptor) = (dialler(), acceptor())

        #expect(isSame(dialler.feed([]), .wait, OpenStream.hello))
        #expect(isSame(acceptor.feed(OpenStream.hello), .wait, OpenStream.hello))
        #expect(isSame(dialler.feed(OpenStream.hello), .wait, proof.initiator))
        #expect(isSame(acceptor.feed(proof.initiator), .opened(alice), proof.responder))
        #expect(isSame(dialler.feed(proof.responder), .opened(bob), []))
    }

    @Test func `it opens wherever the bytes are cut, and leaves what came behind in the stream`() {
        let bytes = OpenStream.hello + proof.initiator + [1, 2, 3]
        for cut in 0..<34 {
            let acceptor = acceptor()

            #expect(acceptor.feed(Array(bytes[..<cut])).step == .wait)
            #expect(acceptor.feed(Array(bytes[cut...])).step == .opened(alice))
            var rest = [UInt8](repeating: 0, count: 9)
            #expect(rest.withUnsafeMutableBytes { acceptor.stream.read(into: $0) } == .bytes(3))
            #expect(rest.prefix(3) == [1, 2, 3])
        }
    }

    @Test func `a wrong bit anywhere is refused without a word, and no sooner than the last byte`() {
        for index in 0..<RoomProof.length {
            var bytes = proof.initiator
            bytes[index] ^= 1
            let acceptor = acceptor()
            _ = acceptor.feed(OpenStream.hello)

            #expect(isSame(acceptor.feed(bytes.dropLast()), .wait, []))
            #expect(isSame(acceptor.feed([bytes[31]]), .refuse(.noProof), []))
        }
    }

    @Test func `a proof sent back to who said it is refused`() {
        let dialler = dialler()
        _ = dialler.feed([])
        let said = dialler.feed(OpenStream.hello).output

        #expect(dialler.feed(said).step == .refuse(.noProof))
    }

    @Test func `our own PeerID is refused, by the dialler only when it has proven it too`() {
        let acceptor = acceptor(from: bob)
        let exported = [UInt8](repeating: 7, count: 32)
        let own = RoomProof(room, exported: exported, initiator: bob, responder: bob)
        _ = acceptor.feed(OpenStream.hello)
        let dialler = Opening(OpenStream(to: bob, isDialler: true), key: room, own: bob, isDialler: true)
        _ = dialler.feed([])

        #expect(isSame(acceptor.feed(own.initiator), .refuse(.ourself), []))
        #expect(isSame(dialler.feed(OpenStream.hello), .refuse(.ourself), own.initiator))
    }

    @Test func `a failed handshake is refused`() {
        #expect(acceptor().feed(OpenStream.hello + [255]).step == .refuse(.notAPeer("a stub")))
    }

    @Test func `what isn't the beginning of TLS is refused at its first byte`() {
        #expect(isSame(acceptor().feed([21]), .refuse(.notAPeer("no TLS")), []))
        let acceptor = acceptor()
        #expect(acceptor.feed([22]).step == .wait)
        #expect(isSame(acceptor.feed([2]), .refuse(.notAPeer("no TLS")), []))
    }

    @Test func `a proof depends on the connection, the room, its key, the roles and both peers`() throws {
        let id = RoomID(openRoom: "lab")
        let (one, other) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let key = try #require(RoomKey(room: id, secret: one))
        let proofs = [
            RoomProof(key, exported: one, initiator: alice, responder: bob),
            RoomProof(key, exported: other, initiator: alice, responder: bob),
            RoomProof(key, exported: one, initiator: bob, responder: alice),
            RoomProof(key, exported: one, initiator: alice, responder: alice),
            RoomProof(
                try #require(RoomKey(room: id, secret: other)), exported: one, initiator: alice, responder: bob),
            RoomProof(
                try #require(RoomKey(room: RoomID(openRoom: "den"), secret: one)), exported: one, initiator: alice,
                responder: bob),
        ]

        #expect(Set(proofs.flatMap { [$0.initiator, $0.responder] }).count == 12)
        #expect(RoomProof(key, exported: one, initiator: alice, responder: bob) == proofs[0])
    }
}
