import Dispatch
import HostilePeer
import Identity
import Testing

@testable import Transport

@Suite struct DuplicateTests {
    private func numbered(_ count: Int) -> [[UInt8]] { (0..<count).map { Array("\($0)".utf8) } }

    /// Case B04.
    @Test(arguments: 0..<20) func `both dial at once: one link is kept, the same on both sides`(run: Int) throws {
        let (alice, bob) = (try Node(), try Node())
        let sent = numbered(200)

        let dials = (alice.dial(bob), bob.dial(alice))
        try alice.wait { $0.isUp(bob.peer) }
        alice.send(sent, to: bob.peer)
        try bob.wait { $0.isUp(alice.peer) }
        for text in sent { bob.send([text], to: alice.peer) }

        try alice.wait { $0.result(of: dials.0) == .linked(bob.peer) }
        try bob.wait { $0.result(of: dials.1) == .linked(alice.peer) }
        try eventually { alice.sockets.count == 1 && alice.sockets == bob.sockets }
        try alice.wait { _ in alice.texts(from: bob.peer).count >= 200 }
        try bob.wait { _ in bob.texts(from: alice.peer).count >= 200 }
        alice.send([[0xff]], to: bob.peer)
        bob.send([[0xff]], to: alice.peer)
        try alice.wait { _ in alice.texts(from: bob.peer).contains([0xff]) }
        try bob.wait { _ in bob.texts(from: alice.peer).contains([0xff]) }
        let expected = Set(sent + [[0xff]])
        #expect(Set(alice.texts(from: bob.peer)) == expected && alice.texts(from: bob.peer).count == expected.count)
        #expect(Set(bob.texts(from: alice.peer)) == expected && bob.texts(from: alice.peer).count == expected.count)
        #expect(alice.events.down(bob.peer) == [] && bob.events.down(alice.peer) == [])
        let keeper = min(alice.peer, bob.peer) == alice.peer ? (alice, bob.port) : (bob, alice.port)
        #expect(keeper.0.sockets.first?.contains(keeper.1) == true)
    }

    @Test func `a second dial by the same side takes the first one's place, and nobody is down`() throws {
        let (alice, bob) = try linkedNodes()
        let first = alice.sockets

        let dial = alice.dial(bob)

        try alice.wait { $0.result(of: dial) == .linked(bob.peer) }
        try eventually { alice.sockets.count == 1 && alice.sockets == bob.sockets }
        #expect(alice.sockets != first)
        #expect(alice.events.down(bob.peer) == [] && bob.events.down(alice.peer) == [])
    }

    @Test func `frames that come on a link that lost are delivered`() throws {
        let node = try Node()
        let mallory = Keyring.newPeer()
        let instance = ProcessInstance()
        let first = try FakePeer.link(to: node, as: mallory, instance: instance, number: 1)
        let second = try FakePeer.link(to: node, as: mallory, instance: instance, number: 2)

        try first.write(Frame(kind: Node.text, body: [1]))
        try first.write(.goodbye(.duplicate))
        try first.halfClose()

        try node.wait { _ in node.texts(from: mallory) == [[1]] }
        #expect(try first.readToEnd() == [])
        try second.write(Frame(kind: Node.text, body: [2]))
        try node.wait { _ in node.texts(from: mallory) == [[1], [2]] }
        #expect(node.events.down(mallory) == [])
    }

    @Test func `the kept link's dialler says goodbye on the other, half-closes, and reads on to the end`() throws {
        let limits = TransportLimits()
        let (key1, key2) = (Keyring.newPeer(), Keyring.newPeer())
        let node = try Node(peer: min(key1, key2), limits: limits)
        let large = max(key1, key2)
        let instance = ProcessInstance()
        let listener = try FakeListener()
        let loser = try FakePeer.link(to: node, as: large, instance: instance)
        node.transport.dial([listener.endpoint], expecting: large)

        let kept = try listener.accept()
        _ = try kept.answer(node.room, as: large, instance: instance)

        #expect(try loser.readToEnd() == TransportMessage.goodbye(.duplicate).frame.encoded)
        try loser.write(Frame(kind: Node.text, body: [1]))
        try node.wait { _ in node.texts(from: large) == [[1]] }
        try loser.halfClose()
        try eventually { node.sockets.count == 1 }
        #expect(node.events.down(large) == [])
    }

    @Test func `frames that wait on the link that lost go over to the kept one, none twice`() throws {
        let (key1, key2) = (Keyring.newPeer(), Keyring.newPeer())
        let (node, large) = (try Node(peer: min(key1, key2)), max(key1, key2))
        let (listener, instance) = (try FakeListener(), ProcessInstance())
        let loser = try FakePeer.link(to: node, as: large, instance: instance)
        try node.wait { $0.isUp(large) }
        let sent = (0..<100).map { [UInt8($0)] + [UInt8](repeating: 0x78, count: 60_000) }
        node.send(sent, to: large)
        _ = try loser.read(1000 * 60)  // part of the first

        node.transport.dial([listener.endpoint], expecting: large)
        let kept = try listener.accept()
        _ = try kept.answer(node.room, as: large, instance: instance)
        let first = sent[0].count + Frame.headerLength - 60_000
        _ = try loser.read(first)
        var arrived = [sent[0]]
        while true {
            let frame = try loser.readFrame()
            if frame.kind != Node.text { break }
            arrived.append(frame.body)
        }
        #expect(try loser.readToEnd() == [])
        try loser.halfClose()
        let onLoser = arrived.count
        while arrived.count < sent.count {
            let frame = try kept.readFrame()
            if frame.kind == Node.text { arrived.append(frame.body) }
        }

        #expect(onLoser < sent.count)
        #expect(arrived == sent)
        try eventually { node.transport.queuedBytes(to: large, over: .chat) == 0 && node.sockets.count == 1 }
        #expect(node.events.down(large) == [])
    }

    @Test func `in a room where everybody dials everybody each pair keeps one link`() throws {
        let nodes = try (0..<6).map { _ in try Node() }

        for node in nodes {
            for other in nodes where other !== node { node.dial(other) }
        }
        for node in nodes {
            try node.wait { $0.count { if case .dialled = $0 { true } else { false } } == 5 }
        }

        try eventually { nodes.allSatisfy { $0.sockets.count == 5 } }
        for node in nodes {
            for other in nodes where other !== node { node.send([node.peer.bytes], to: other.peer) }
        }
        for node in nodes {
            for other in nodes where other !== node {
                try node.wait { _ in node.texts(from: other.peer) == [other.peer.bytes] }
                #expect(node.events.down(other.peer) == [])
            }
        }
    }

    @Test func `a link that lost and isn't ended by its peer is closed after the drain time`() throws {
        var limits = TransportLimits()
        limits.drain = .milliseconds(200)
        let (key1, key2) = (Keyring.newPeer(), Keyring.newPeer())
        let node = try Node(peer: min(key1, key2), limits: limits)
        let instance = ProcessInstance()
        let listener = try FakeListener()
        let loser = try FakePeer.link(to: node, as: max(key1, key2), instance: instance)
        node.transport.dial([listener.endpoint], expecting: nil)

        let kept = try listener.accept()
        _ = try kept.answer(node.room, as: max(key1, key2), instance: instance)

        try eventually(.seconds(2)) { node.sockets.count == 1 }
        _ = loser
    }

    @Test func `a dial number that is used twice is refused`() throws {
        let node = try Node()
        let mallory = Keyring.newPeer()
        let instance = ProcessInstance()
        let first = try FakePeer.link(to: node, as: mallory, instance: instance, number: 5)

        #expect(throws: FakePeer.Ended.self) {
            _ = try FakePeer.link(to: node, as: mallory, instance: instance, number: 5)
        }

        try node.wait { $0.refusals == ["a dial number used twice"] }
        try first.write(Frame(kind: Node.text, body: [1]))
        try node.wait { _ in node.texts(from: mallory) == [[1]] }
    }
}

/// Two processes that show one PeerID.
@Suite struct CloneTests {
    @Test func `a second process under a PeerID whose first is alive is refused, and both users are told`() throws {
        let key = Keyring.newPeer()
        let (node, first, second) = (try Node(), try Node(peer: key), try Node(peer: key))
        first.dial(node)
        try node.wait { $0.isUp(key) }

        let dial = second.dial(node)

        try second.wait { if case .failed = $0.result(of: dial) { true } else { false } }
        #expect(second.events.contains(.clone(key, node.endpoint)))
        try node.wait { $0.contains { if case .clone(key, _) = $0 { true } else { false } } }
        #expect(node.events.down(key) == [] && first.events.down(node.peer) == [])
        #expect(!second.events.isUp(node.peer))
    }

    @Test func `a second process takes over from a first that doesn't answer, and the peer stays linked`() throws {
        var limits = TransportLimits()
        limits.cloneProbe = .milliseconds(300)
        let key = Keyring.newPeer()
        let node = try Node(limits: limits)
        let dead = try FakePeer.link(to: node, as: key)
        try node.wait { $0.isUp(key) }
        let second = try Node(peer: key)

        second.dial(node)

        try second.wait { $0.isUp(node.peer) }
        second.send([[1]], to: node.peer)
        try node.wait { _ in node.texts(from: key) == [[1]] }
        #expect(node.events.count { if case .linkUp(key, _, _) = $0 { true } else { false } } == 2)
        #expect(node.events.down(key) == [])
        _ = try dead.readToEnd()
    }

    @Test func `a second process comes in as soon as the first one's link is gone`() throws {
        var limits = TransportLimits()
        limits.cloneProbe = .seconds(20)
        let key = Keyring.newPeer()
        let node = try Node(limits: limits)
        let first = try FakePeer.link(to: node, as: key)
        try node.wait { $0.isUp(key) }
        let second = try Node(peer: key)
        second.dial(node)
        try eventually { node.sockets.count == 2 }

        first.reset()

        try second.wait(.seconds(4)) { $0.isUp(node.peer) }
        #expect(node.events.down(key) == [.closed])
    }
}
