import Dispatch
import HostilePeer
import Identity
import Testing

@testable import Transport

@Suite struct BlobTests {
    private func texts(_ count: Int, length: Int) -> [[UInt8]] {
        (0..<count).map { Array("\($0) ".utf8) + [UInt8](repeating: 0x78, count: length) }
    }

    private func blobsDown(_ node: Node, _ peer: PeerID) -> Int {
        node.events.count { $0 == .blobLinkDown(peer) }
    }

    @Test(arguments: [true, false])
    func `a blob link is opened by the chat link's dialler, whoever needs it`(byDialler: Bool) throws {
        let (alice, bob) = try linkedNodes()
        let (from, to) = byDialler ? (alice, bob) : (bob, alice)
        let sent = texts(200, length: 30_000)

        from.send(sent, to: to.peer, over: .blob)
        for index in 0..<100 { from.send([[UInt8(index)]], to: to.peer) }

        try to.wait { _ in to.texts(from: from.peer, over: .blob).count >= 200 && to.texts(from: from.peer).count >= 100
        }
        #expect(to.texts(from: from.peer, over: .blob) == sent)
        #expect(to.texts(from: from.peer) == (0..<100).map { [UInt8($0)] })
        #expect(alice.sockets.count == 2)
        #expect(alice.sockets.allSatisfy { $0.contains(bob.port) })
        to.send([[9]], to: from.peer, over: .blob)
        try from.wait { _ in from.texts(from: to.peer, over: .blob) == [[9]] }
        #expect(alice.sockets.count == 2)
    }

    @Test func `both ask at once and everything arrives once`() throws {
        let (alice, bob) = try linkedNodes()
        let sent = texts(100, length: 1000)

        alice.send(sent, to: bob.peer, over: .blob)
        bob.send(sent, to: alice.peer, over: .blob)

        try alice.wait { _ in alice.texts(from: bob.peer, over: .blob).count >= 100 }
        try bob.wait { _ in bob.texts(from: alice.peer, over: .blob).count >= 100 }
        #expect(alice.texts(from: bob.peer, over: .blob) == sent)
        #expect(bob.texts(from: alice.peer, over: .blob) == sent)
        try eventually { alice.sockets.count == 2 && bob.sockets == alice.sockets }
    }

    @Test func `an unused blob link is closed, the chat link stays, and the next use opens another`() throws {
        var limits = TransportLimits()
        limits.blobIdle = .milliseconds(300)
        let (alice, bob) = try linkedNodes(limits)
        alice.send([[1]], to: bob.peer, over: .blob)
        try bob.wait { _ in bob.texts(from: alice.peer, over: .blob) == [[1]] }

        try alice.wait { _ in blobsDown(alice, bob.peer) == 1 }
        try bob.wait { _ in blobsDown(bob, alice.peer) == 1 }
        try eventually { alice.sockets.count == 1 && bob.sockets.count == 1 }
        bob.send([[2]], to: alice.peer, over: .blob)

        try alice.wait { _ in alice.texts(from: bob.peer, over: .blob) == [[2]] }
        #expect(alice.events.down(bob.peer) == [] && bob.events.down(alice.peer) == [])
    }

    @Test func `a blob link goes with the last chat link`() throws {
        let (alice, bob) = try linkedNodes()
        alice.send([[1]], to: bob.peer, over: .blob)
        try bob.wait { _ in bob.texts(from: alice.peer, over: .blob) == [[1]] }

        alice.transport.close()

        try bob.wait { $0.down(alice.peer) == [.left] }
        #expect(blobsDown(bob, alice.peer) == 1)
        #expect(bob.sockets.isEmpty)
    }

    @Test func `a blob link that isn't opened in time is told, and its frames aren't counted any more`() throws {
        var limits = TransportLimits()
        limits.opening = .milliseconds(300)
        let node = try Node(limits: limits)
        let mallory = Keyring.newPeer()
        let fake = try FakePeer.link(to: node, as: mallory)
        try node.wait { $0.isUp(mallory) }

        node.send([[1]], to: mallory, over: .blob)
        #expect(node.transport.queuedBytes(to: mallory, over: .blob) == 7)

        #expect(try TransportMessage(try fake.readFrame()) == .blobLink)
        try node.wait { _ in blobsDown(node, mallory) == 1 }
        #expect(node.transport.queuedBytes(to: mallory, over: .blob) == 0)
    }

    @Test func `a blob link without a chat link is refused`() throws {
        let node = try Node()

        #expect(throws: FakePeer.Ended.self) {
            let fake = try FakePeer.link(to: node, as: Keyring.newPeer(), purpose: .blob)
            _ = try fake.readFrame()
        }
        try node.wait { $0.refusals == ["a blob link without a chat link"] }
    }
}
