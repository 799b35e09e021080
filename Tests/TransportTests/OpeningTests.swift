import Identity
import Testing

@testable import Transport

@Suite struct OpeningTests {
    private let room = RoomID(openRoom: "lab")
    private let alice = SigningKey().peer
    private let bob = SigningKey().peer

    private func preamble(_ peer: PeerID, _ room: RoomID? = nil) -> [UInt8] {
        FakePeer.preamble(room ?? self.room, peer)
    }

    @Test func `the dialler speaks first, the acceptor only when it has checked`() {
        let dialler = Opening(room: room, peer: alice, isDialler: true)
        var acceptor = Opening(room: room, peer: bob, isDialler: false)

        #expect(dialler.firstBytes == preamble(alice))
        #expect(acceptor.firstBytes == [])
        let step1 = acceptor.feed(preamble(alice))
        #expect(step1 == .opened(alice, answer: preamble(bob), rest: []))
    }

    @Test func `it opens wherever the bytes are cut, and keeps what came behind`() {
        let bytes = preamble(alice) + [1, 2, 3]
        for cut in 0..<Opening.length {
            var acceptor = Opening(room: room, peer: bob, isDialler: false)

            let step2 = acceptor.feed(bytes[..<cut])
            #expect(step2 == .wait)
            let step3 = acceptor.feed(bytes[cut...])
            #expect(step3 == .opened(alice, answer: preamble(bob), rest: [1, 2, 3]))
        }
    }

    @Test func `a wrong byte is seen at once, wherever it is`() {
        for index in 0..<Opening.magic.count + 32 {
            var bytes = preamble(alice)
            bytes[index] ^= 1
            var acceptor = Opening(room: room, peer: bob, isDialler: false)

            let refusal: OpeningRefusal = index < Opening.magic.count ? .notOurProtocol : .anotherRoom
            let step4 = acceptor.feed(bytes[...index])
            #expect(step4 == .refuse(refusal))
        }
    }

    @Test func `our own PeerID, or none that is one, is refused`() {
        var acceptor = Opening(room: room, peer: bob, isDialler: false)
        let step5 = acceptor.feed(preamble(bob))
        #expect(step5 == .refuse(.ourself))

        var other = Opening(room: room, peer: bob, isDialler: false)
        let invalid = preamble(alice).prefix(Opening.length - 32) + [UInt8](repeating: 0, count: 32)
        let step6 = other.feed(invalid)
        #expect(step6 == .refuse(.invalidPeer))
    }

    @Test func `the dialler answers nothing more`() {
        var dialler = Opening(room: room, peer: alice, isDialler: true)

        let step7 = dialler.feed(preamble(bob))
        #expect(step7 == .opened(bob, answer: [], rest: []))
    }
}
