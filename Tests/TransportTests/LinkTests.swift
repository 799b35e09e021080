import Addressing
import Dispatch
import Glibc
import Identity
import Locking
import SystemCalls
import Testing

@testable import Transport

/// One link at a time, on loopback.
@Suite struct LinkTests {
    private let room = RoomID(openRoom: "lab")
    private let mallory = SigningKey().peer

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
        let (alice, bob) = try linkedNodes()
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
        let other = SigningKey().peer
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
    private let room = RoomID(openRoom: "lab")
    private let mallory = SigningKey().peer

    private func limits(_ change: (inout TransportLimits) -> Void = { _ in }) -> TransportLimits {
        var limits = TransportLimits()
        limits.opening = .milliseconds(400)
        change(&limits)
        return limits
    }

    @Test func `garbage, another room and an invalid PeerID are closed without an answer`() throws {
        let node = try Node()
        let garbage = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        let otherRoom = FakePeer.preamble(RoomID(openRoom: "den"), mallory)
        let nobody = FakePeer.preamble(room, mallory).dropLast(32) + [UInt8](repeating: 0, count: 32)
        for bytes in [garbage, otherRoom, Array(nobody)] {
            let fake = try FakePeer.dial(node.port)
            try fake.write(bytes)

            #expect(try fake.readToEnd() == [])
        }
        try node.wait {
            $0.refusals == ["not a groupchat peer", "a peer of another room", "an invalid PeerID"]
        }
        #expect(node.events.count == 3)
    }

    @Test func `random bytes never get an answer, and a peer still gets in`() throws {
        let node = try Node()
        for _ in 0..<200 {
            let fake = try FakePeer.dial(node.port)
            try fake.write(randomBytes(Int.random(in: 1...200)))
            #expect(try fake.readToEnd() == [])
        }

        _ = try FakePeer.link(to: node, as: mallory)

        try node.wait { $0.isUp(mallory) }
    }

    @Test func `our own PeerID from elsewhere is closed without an answer, and told as a clone`() throws {
        let node = try Node()
        let fake = try FakePeer.dial(node.port)

        try fake.write(FakePeer.preamble(room, node.peer))

        #expect(try fake.readToEnd() == [])
        try node.wait { if case .clone(node.peer, _) = $0.first { true } else { false } }
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
            let fake = try FakePeer.dial(node.port)
            try fake.write(FakePeer.preamble(room, mallory))
            _ = try fake.read(Opening.length)
            try fake.write(bytes)

            #expect(try fake.readToEnd() == [])
        }
        #expect(!node.events.isUp(mallory))
    }

    @Test(arguments: [0, 40, Opening.length]) func `who stops in the opening is closed in time`(length: Int) throws {
        let node = try Node(limits: limits())
        let fake = try FakePeer.dial(node.port)
        let start = ContinuousClock.now

        try fake.write(Array(FakePeer.preamble(room, mallory).prefix(length)))
        _ = try fake.readToEnd()

        let taken = ContinuousClock.now - start
        #expect(taken >= .milliseconds(390) && taken < .seconds(2))
    }

    @Test func `too many silent connections are closed at once, and a linked peer is none of them`() throws {
        let node = try Node(
            limits: limits {
                $0.unauthenticated = 3
                $0.opening = .seconds(20)
            })
        _ = try FakePeer.link(to: node, as: mallory)
        try node.wait { $0.isUp(mallory) }
        var silent = try (0..<3).map { _ in try FakePeer.dial(node.port) }
        try eventually { node.sockets.count >= 3 }

        #expect(try FakePeer.dial(node.port).readToEnd() == [])
        try node.wait { $0.refusals == ["too many connections that haven't said who they are"] }

        silent.removeLast()
        let other = SigningKey().peer
        try eventually { (try? FakePeer.link(to: node, as: other)) != nil }
        try node.wait { $0.isUp(other) }
    }
}

@Suite struct ListenerTests {
    /// Case B56: what accept(2) says when there are no descriptors is said by the test.
    @Test func `a listener that has run out of descriptors waits, tries again, and loses no connection`() throws {
        let queue = DispatchQueue(label: "test")
        let listener = try Listener(on: .everywhere(port: 0))
        let (tries, failures, taken) = (Locked(0), Locked(0), Locked<[Endpoint]>([]))
        let start = ContinuousClock.now
        listener.start(on: queue, pause: .milliseconds(100)) { listener throws(SystemCallError) in
            let count = tries.withLock { tries in
                tries += 1
                return tries
            }
            if count <= 3 { throw SystemCallError(call: "accept", subject: "a listener", code: EMFILE) }
            return try Listener.accept(from: listener)
        } accepted: { _, remote in
            taken.withLock { $0.append(remote) }
        } failed: { _ in
            failures.withLock { $0 += 1 }
        }

        let fake = try FakePeer.dial(listener.port)

        try eventually { taken.withLock { $0.count } == 1 }
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(failures.withLock { $0 } == 3)
        queue.sync { listener.cancel() }
        _ = fake
    }

    @Test func `a listener can be closed while it waits`() throws {
        let (fake, port) = try closedWhileWaiting()

        #expect(try fake.readToEnd() == [])
        try eventually { (try? FakePeer.dial(port)) == nil }
    }

    private func closedWhileWaiting() throws -> (FakePeer, port: UInt16) {
        let queue = DispatchQueue(label: "test")
        let listener = try Listener(on: .only(Endpoint(address: .loopback, port: 0)))
        let failures = Locked(0)
        listener.start(on: queue, pause: .seconds(100)) { _ throws(SystemCallError) in
            throw SystemCallError(call: "accept", subject: "a listener", code: EMFILE)
        } accepted: { _, _ in
        } failed: { _ in
            failures.withLock { $0 += 1 }
        }
        let fake = try FakePeer.dial(listener.port)
        try eventually { failures.withLock { $0 } == 1 }

        queue.sync { listener.cancel() }
        return (fake, listener.port)
    }
}
