import Dispatch
import Glibc
import HostilePeer
import Identity
import Testing

@testable import Transport

/// Cases B16 and B17, with shrunk timers.
@Suite struct SilenceTests {
    private let mallory = Keyring.newPeer()

    private func limits() -> TransportLimits {
        var limits = TransportLimits()
        limits.pingAfter = .milliseconds(100)
        limits.silentAfter = .milliseconds(400)
        limits.silentRepeat = .milliseconds(100)
        limits.deadAfter = .milliseconds(1500)
        limits.stall = .milliseconds(300)
        limits.afterStall = .milliseconds(200)
        return limits
    }

    private func silences(_ node: Node, _ peer: PeerID) -> Int { node.events.count { $0 == .silent(peer) } }

    @Test func `a peer that says nothing is silent again and again, then down`() throws {
        let node = try Node(limits: limits())
        let fake = try FakePeer.link(to: node, as: mallory)

        try node.wait { $0.down(mallory) == [.silent] }

        #expect(silences(node, mallory) >= 3)
        #expect(node.events.last == .linkDown(mallory, .silent))
        let said = try fake.readToEnd()
        #expect(said.count >= 3 * 14 && said.count.isMultiple(of: 14), "pings alone")
    }

    @Test func `an idle peer that answers pings is neither silent nor down`() throws {
        var limits = limits()
        limits.silentAfter = .seconds(2)
        limits.deadAfter = .seconds(4)
        let node = try Node(limits: limits)
        let fake = try FakePeer.link(to: node, as: mallory)

        for _ in 0..<25 {
            guard case .ping(let nonce) = try TransportMessage(try fake.readFrame()) else { throw FakePeer.Ended() }
            try fake.write(.pong(nonce))
        }

        #expect(silences(node, mallory) == 0)
        #expect(node.events.down(mallory) == [])
    }

    @Test func `a ping is answered with its nonce`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)

        try fake.write(.ping(77))

        #expect(try TransportMessage(try fake.readFrame()) == .pong(77))
    }

    @Test func `two idle peers stay linked`() throws {
        var limits = limits()
        limits.silentAfter = .seconds(1)
        limits.deadAfter = .seconds(2)
        let (alice, bob) = try linkedNodes(limits)
        let fake = try FakePeer.link(to: alice, as: mallory)

        // The fake peer's end measures the time: it is down after two seconds without a word.
        try alice.wait { $0.down(mallory) == [.silent] }

        #expect(silences(alice, bob.peer) == 0 && silences(bob, alice.peer) == 0)
        #expect(alice.events.down(bob.peer) == [] && bob.events.down(alice.peer) == [])
        _ = fake
    }

    @Test func `a link dialled in place of a silent one names it, and takes over`() throws {
        var limits = limits()
        limits.deadAfter = .seconds(10)
        let node = try Node(limits: limits)
        let (listener, instance) = (try FakeListener(), ProcessInstance())
        let silent = try FakePeer.link(to: node, as: mallory, instance: instance, number: 41)
        try node.wait { _ in silences(node, mallory) > 0 }

        let dial = node.transport.dial([listener.endpoint], expecting: mallory, replacingSilent: true)
        let fresh = try listener.accept()
        let introduction = try fresh.answer(node.room, as: mallory, instance: instance)

        #expect(introduction.replaces == LinkName(dialler: mallory, instance: instance, number: 41))
        try node.wait { $0.result(of: dial) == .linked(mallory) }
        let said = try silent.readToEnd()
        #expect(said.suffix(7) == TransportMessage.goodbye(.duplicate).frame.encoded[...])
        #expect(node.events.down(mallory) == [])
        try fresh.write(Frame(kind: Node.text, body: [1]))
        try node.wait { _ in node.texts(from: mallory) == [[1]] }
    }

    @Test func `a link that went down silent is still named by the next dial`() throws {
        let node = try Node(limits: limits())
        let (listener, instance) = (try FakeListener(), ProcessInstance())
        let silent = try FakePeer.link(to: node, as: mallory, instance: instance, number: 41)
        try node.wait { $0.down(mallory) == [.silent] }

        node.transport.dial([listener.endpoint], expecting: mallory, replacingSilent: true)
        let introduction = try listener.accept().answer(node.room, as: mallory, instance: instance)

        #expect(introduction.replaces == LinkName(dialler: mallory, instance: instance, number: 41))
        _ = silent
    }

    @Test func `a stall of our own makes nobody silent`() throws {
        let (alice, bob) = (try Node(limits: limits()), try Node())
        bob.dial(alice)
        try alice.wait { $0.isUp(bob.peer) }
        try bob.wait { $0.isUp(alice.peer) }

        alice.transport.core.queue.async { usleep(2_500_000) }
        bob.send([[1]], to: alice.peer)

        try alice.wait { _ in alice.texts(from: bob.peer) == [[1]] }
        alice.transport.core.queue.sync {}
        #expect(silences(alice, bob.peer) == 0)
        #expect(alice.events.down(bob.peer) == [])
    }
}
