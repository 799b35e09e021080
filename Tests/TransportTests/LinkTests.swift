import Addressing
import Dispatch
import Glibc
import HostilePeer
import Identity
import Locking
import SystemCalls
import Testing

@testable import Transport

/// One link at a time, on loopback.
@Suite struct LinkTests {
    private let mallory = Keyring.newPeer()

    private func texts(_ count: Int, length: Int = 1000) -> [[UInt8]] {
        (0..<count).map { Array("\($0) ".utf8) + [UInt8](repeating: 0x78, count: length) }
    }

    private func quick() -> TransportLimits {
        var limits = TransportLimits()
        limits.opening = .milliseconds(400)
        limits.closing = .milliseconds(200)
        return limits
    }

    @Test(arguments: [IPAddress.loopback, .v6(high: 0, low: 1, scope: 0)])
    func `one listener takes IPv4 and IPv6`(address: IPAddress) throws {
        let (alice, bob) = (try Node(), try Node())

        let dial = alice.transport.dial([Endpoint(address: address, port: bob.port)], expecting: bob.peer)

        try alice.wait { $0.result(of: dial) == .linked(bob.peer) }
        try bob.wait { $0.isUp(alice.peer) }
        guard case .linkUp(_, let endpoint, let isDialler) = bob.events.first else {
            Issue.record("\(bob.events)")
            return
        }
        #expect(endpoint.address == address)
        #expect(!isDialler)
    }

    @Test func `linkUp is told, then the greeting, then how the dial ended`() throws {
        let (alice, bob) = (try Node(), try Node())

        let dial = alice.dial(bob)

        try alice.wait { $0.count == 3 }
        #expect(
            alice.events == [
                .linkUp(bob.peer, endpoint: bob.endpoint, isDialler: true), .frame(bob.peer, .chat, Node.greeting),
                .dialled(dial, .linked(bob.peer)),
            ])
    }

    @Test func `frames arrive once and in order, both ways`() throws {
        let (alice, bob) = try linkedNodes()
        let sent = texts(2000, length: 500)

        alice.send(sent, to: bob.peer)
        for text in sent { bob.send([text], to: alice.peer) }

        try bob.wait { _ in bob.texts(from: alice.peer).count >= 2000 }
        try alice.wait { _ in alice.texts(from: bob.peer).count >= 2000 }
        #expect(bob.texts(from: alice.peer) == sent)
        #expect(alice.texts(from: bob.peer) == sent)
        #expect(alice.transport.queuedBytes(to: bob.peer, over: .chat) == 0)
    }

    @Test func `close writes what is queued, and the other side knows at once that we left`() throws {
        var limits = TransportLimits()
        limits.closing = .seconds(8)
        let (alice, bob) = try linkedNodes(limits)
        let sent = texts(3000)

        alice.send(sent, to: bob.peer)
        alice.transport.close()

        try bob.wait { $0.down(alice.peer) == [.left] }
        #expect(bob.texts(from: alice.peer) == sent)
        #expect(alice.events.down(bob.peer) == [])
        #expect(alice.sockets.isEmpty)
    }

    @Test func `a link that ended keeps nothing open, whoever dialled it`() throws {
        let (alice, bob) = try linkedNodes()
        weak let dialled = alice.link
        weak let accepted = bob.link

        alice.transport.disconnect(bob.peer, reason: "enough")

        try bob.wait { $0.down(alice.peer) == [.closed] }
        try eventually { dialled == nil && accepted == nil }
    }

    @Test func `a peer that writes and is gone at once is read to its end, even in small turns`() throws {
        var limits = TransportLimits()
        limits.turns = 1
        let node = try Node(limits: limits)
        let sent = texts(300)

        do {
            let fake = try FakePeer.link(to: node, as: mallory)
            try fake.write(sent.flatMap { Frame(kind: Node.text, body: $0).encoded })
        }

        try node.wait { $0.down(mallory) == [.closed] }
        #expect(node.texts(from: mallory) == sent)
    }

    @Test func `a reset ends the link once, within two seconds`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let sent = texts(100)

        try fake.write(sent.flatMap { Frame(kind: Node.text, body: $0).encoded })
        fake.reset()

        try node.wait(.seconds(2)) { $0.down(mallory) == [.closed] }
        #expect(sent.starts(with: node.texts(from: mallory)))
        try eventually(.seconds(2)) { node.sockets.isEmpty }
    }

    @Test func `a peer that goes while we write takes only its link with it`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)

        node.send(texts(4000), to: mallory)
        _ = try fake.read(64 * 1024)
        fake.reset()

        try node.wait { $0.down(mallory) == [.closed] }
        try eventually { node.transport.queuedBytes(to: mallory, over: .chat) == 0 }
        _ = try FakePeer.link(to: node, as: mallory)
        try node.wait { $0.count { if case .linkUp = $0 { true } else { false } } == 2 }
    }

    @Test func `a peer that doesn't read loses the link when the queue is full, with a reason`() throws {
        var limits = quick()
        limits.queuedBytes = 1 << 20
        let node = try Node(limits: limits)
        let fake = try FakePeer.link(to: node, as: mallory)
        try node.wait { $0.isUp(mallory) }

        for _ in 0..<20 where node.events.down(mallory).isEmpty { node.send(texts(1000), to: mallory) }

        try node.wait {
            $0.down(mallory) == [.violated("it doesn't read: more than 1048576 bytes wait for it")]
        }
        try eventually { node.transport.queuedBytes(to: mallory, over: .chat) == 0 }
        _ = fake
    }

    @Test func `a frame of the limit passes, the header of a longer one closes the link within a second`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let longest = [UInt8](repeating: 1, count: Node.textLimit)

        try fake.write(Frame(kind: Node.text, body: longest))
        try node.wait { _ in node.texts(from: mallory) == [longest] }
        try fake.write([0xff, 0xff, 0xff, 0xff, Node.text, 0])

        try node.wait(.seconds(1)) {
            $0.down(mallory) == [.violated("a frame of kind 17 and 4294967295 bytes; the limit is 65536")]
        }
        let said = try fake.readToEnd()
        #expect(said.suffix(7) == TransportMessage.goodbye(.error).frame.encoded[...])
    }

    @Test(arguments: [
        Frame(kind: 99, body: []), Frame(kind: 1, body: [1]), Frame(kind: 17, flags: 4, body: []),
        TransportMessage.link(Introduction(purpose: .chat, instance: .init(), number: 9)).frame,
        Frame(kind: 9, body: []),
    ])
    func `a frame that breaks a rule closes only that link`(frame: Frame) throws {
        let node = try Node()
        let other = Keyring.newPeer()
        let good = try FakePeer.link(to: node, as: other)
        let bad = try FakePeer.link(to: node, as: mallory)

        try bad.write(frame)

        try node.wait { if case .violated = $0.down(mallory).first { true } else { false } }
        _ = try bad.readToEnd()
        try good.write(Frame(kind: Node.text, body: [1]))
        try node.wait { _ in node.texts(from: other) == [[1]] }
    }

    @Test func `an unknown frame that may be skipped is skipped`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)

        try fake.write(Frame(kind: 99, flags: 1, body: [UInt8](repeating: 0, count: 16384)))
        try fake.write(Frame(kind: Node.text, body: [1]))

        try node.wait { _ in node.texts(from: mallory) == [[1]] }
    }

    @Test func `frames cut into single bytes arrive whole`() throws {
        let node = try Node()
        let fake = try FakePeer.link(to: node, as: mallory)
        let text = Array("héllo 🧑‍🌾 한글".utf8)

        for byte in Frame(kind: Node.text, body: text).encoded { try fake.write([byte]) }

        try node.wait { _ in node.texts(from: mallory) == [text] }
    }
}

/// Connections that don't become links (cases B33 and B58).
@Suite struct RefusalTests {
    private let mallory = Keyring.newPeer()

    private func limits(_ change: (inout TransportLimits) -> Void = { _ in }) -> TransportLimits {
        var limits = TransportLimits()
        limits.opening = .milliseconds(400)
        change(&limits)
        return limits
    }

    @Test func `garbage is closed without an answer, and told`() throws {
        let node = try Node()
        let fake = try FakePeer.dial(node.port)

        try fake.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))

        #expect(try fake.readToEnd() == [])
        try node.wait { $0.refusals == ["not a groupchat peer: no TLS"] }
        #expect(node.events.count == 1)
    }

    @Test func `random bytes never get an answer, and a peer still gets in`() throws {
        let node = try Node()
        for _ in 0..<200 {
            let fake = try FakePeer.dial(node.port)
            try fake.write(randomBytes(Int.random(in: 1...200)))
            try fake.halfClose()
            #expect(try fake.readToEnd() == [])
        }

        _ = try FakePeer.link(to: node, as: mallory)

        try node.wait { $0.isUp(mallory) }
    }

    @Test func `a connection may not say too much before it has proven anything`() throws {
        let node = try Node(
            limits: limits {
                $0.openingBytes = 4096
                $0.opening = .seconds(20)
            })
        let fake = try FakePeer.dial(node.port)

        // The beginning of a ClientHello of 100,000 bytes (RFC 8446, 4 and 5.1), which OpenSSL would wait for.
        try fake.write([22, 3, 1, 0x3f, 0xff, 1, 1, 0x86, 0xa0] + [UInt8](repeating: 0, count: 5000))

        #expect(try fake.readToEnd() == [])
        try node.wait { $0.refusals == ["not a groupchat peer: it says too much"] }
    }

    @Test func `our own PeerID from elsewhere is closed without an answer, and told as a clone`() throws {
        let node = try Node()
        let fake = try FakePeer.dial(node.port)
        try fake.encrypt(as: node.peer, isDialler: true)

        try fake.write(try fake.proof(node.room, as: node.peer, isDialler: true).initiator)

        #expect(try fake.readToEnd() == [])
        try node.wait { if case .clone(node.peer, _) = $0.first { true } else { false } }
    }

    @Test func `two processes with one key that dial each other are both told`() throws {
        let first = try Node()
        let second = try Node(peer: first.peer)

        let dial = second.transport.dial([first.endpoint], expecting: nil)

        try second.wait { if case .failed = $0.result(of: dial) { true } else { false } }
        try first.wait { $0.contains { if case .clone(first.peer, _) = $0 { true } else { false } } }
        #expect(second.events.contains(.clone(first.peer, first.endpoint)))
    }

    @Test func `dialling ourselves fails and is no clone`() throws {
        let node = try Node()

        let dial = node.transport.dial([node.endpoint], expecting: nil)

        try node.wait { if case .failed(_, refused: false) = $0.result(of: dial) { true } else { false } }
        #expect(!node.events.contains { if case .clone = $0 { true } else { false } })
    }

    @Test func `frames before Link, or a too long one, end the connection`() throws {
        let node = try Node()
        let link = TransportMessage.link(Introduction(purpose: .chat, instance: .init(), number: 1)).frame.encoded
        let wrong: [[UInt8]] = [
            Node.greeting.encoded, TransportMessage.ping(1).frame.encoded, [0xff, 0xff, 0xff, 0xff, 0, 0],
            link + [0, 0, 0x10, 1, 16, 0], link + TransportMessage.ping(1).frame.encoded, link + link,
        ]
        for bytes in wrong {
            let fake = try FakePeer.open(to: node, as: mallory)
            try fake.write(bytes)

            #expect(try fake.readToEnd() == [])
        }
        #expect(!node.events.isUp(mallory))
    }

    enum Stop: CaseIterable { case atOnce, inHello, beforeProof, inProof, beforeLink }

    @Test(arguments: Stop.allCases) func `who stops in the opening is closed in time`(stop: Stop) throws {
        let node = try Node(limits: limits())
        let start = ContinuousClock.now

        let fake = try stop == .beforeLink ? FakePeer.open(to: node, as: mallory) : FakePeer.dial(node.port)
        switch stop {
        case .atOnce, .beforeLink: break
        case .inHello: try fake.write([22, 3, 1, 0, 100, 1])
        case .beforeProof: try fake.encrypt(as: mallory, isDialler: true)
        case .inProof:
            try fake.encrypt(as: mallory, isDialler: true)
            try fake.write(Array(try fake.proof(node.room, as: mallory, isDialler: true).initiator.dropLast()))
        }
        #expect(try fake.readToEnd() == [])

        let taken = ContinuousClock.now - start
        #expect(taken >= .milliseconds(390) && taken < .seconds(2))
    }

    @Test func `too many silent connections are closed at once, and a linked peer is none of them`() throws {
        let node = try Node(
            limits: limits {
                $0.unauthenticated = 3
                $0.reservedForKnown = 0
                $0.opening = .seconds(20)
            })
        _ = try FakePeer.link(to: node, as: mallory)
        try node.wait { $0.isUp(mallory) }
        var silent = try (0..<3).map { _ in try FakePeer.dial(node.port) }
        try eventually { node.sockets.count >= 3 }

        #expect(try FakePeer.dial(node.port).readToEnd() == [])
        try node.wait { $0.refusals == ["too many connections that haven't said who they are"] }

        silent.removeLast()
        let other = Keyring.newPeer()
        try eventually { (try? FakePeer.link(to: node, as: other)) != nil }
        try node.wait { $0.isUp(other) }
    }
}
