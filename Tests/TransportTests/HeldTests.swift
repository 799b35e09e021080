import Glibc
import HostilePeer
import Identity
import Locking
import Rx
import Testing

@testable import Transport

/// Peers that are read no further for a while, and those that get no link at all.
@Suite struct HeldTests {
    @Test func `a paused peer is read no further, isn't taken for dead, and all comes when reading goes on`() throws {
        var limits = TransportLimits()
        limits.silentAfter = .milliseconds(300)
        limits.deadAfter = .milliseconds(900)
        limits.pingAfter = .milliseconds(100)
        let (alice, bob) = try linkedNodes(limits)
        let big = [UInt8](repeating: 7, count: 60_000)

        alice.transport.pauseReading(of: bob.peer)
        alice.send([[0]], to: bob.peer)  // what comes after the pause is behind this on alice's queue
        try bob.wait { !$0.isEmpty && bob.texts(from: alice.peer) == [[0]] }
        for _ in 1...100 { bob.send([big], to: alice.peer) }
        try eventually { bob.transport.queuedBytes(to: alice.peer, over: .chat) > 0 }
        let queued = bob.transport.queuedBytes(to: alice.peer, over: .chat)
        usleep(1_500_000)  // longer than a peer may be silent

        #expect(bob.transport.queuedBytes(to: alice.peer, over: .chat) > queued / 2)
        #expect(alice.texts(from: bob.peer).count < 3)
        #expect(alice.events.down(bob.peer) == [] && bob.events.down(alice.peer) == [])
        #expect(!alice.events.contains(.silent(bob.peer)))

        alice.transport.resumeReading(of: bob.peer)
        try alice.wait { _ in alice.texts(from: bob.peer).count == 100 }
    }

    @Test func `a flood of small frames gives way to others, and stops at once when it is paused in its midst`() throws
    {
        let node = try Node()
        let (mallory, honest) = (Keyring.newPeer(), Keyring.newPeer())
        let (evil, good) = (try FakePeer.link(to: node, as: mallory), try FakePeer.link(to: node, as: honest))
        try node.wait { $0.isUp(mallory) && $0.isUp(honest) }
        let small = Frame(kind: Node.text, body: [1]).encoded
        let counted = Locked(0)
        let subscription = node.transport.events.subscribe(onNext: { [transport = node.transport] event in
            guard case .frame(mallory, _, _) = event else { return }
            let count = counted.withLock { count in
                count += 1
                return count
            }
            if count == 1_001 { transport.pauseReading(of: mallory) }
        })

        // The greeting was told before the subscription or after it.
        try evil.write((0..<5_000).flatMap { _ in small })
        try eventually { counted.withLock { $0 } >= 1_001 }
        try good.write(Frame(kind: Node.text, body: [2]))
        try node.wait { _ in node.texts(from: honest) == [[2]] }
        #expect(counted.withLock { $0 } == 1_001)

        node.transport.resumeReading(of: mallory)
        try evil.write(.goodbye(.leaving))
        try node.wait { $0.down(mallory) == [.left] }
        #expect(node.texts(from: mallory).count == 5_000)
        subscription.dispose()
    }

    @Test func `a peer that is shut out loses its links without a word, and gets none in either direction`() throws {
        let (alice, bob) = try linkedNodes()

        alice.answer([bob.peer: false])
        try bob.wait { $0.down(alice.peer) == [.closed] }
        try alice.wait { $0.down(bob.peer) == [.closed] }
        let there = bob.dial(alice)
        try bob.wait { $0.result(of: there) != nil }
        let back = alice.dial(bob)
        try alice.wait { $0.result(of: back) != nil }

        for (node, dial) in [(bob, there), (alice, back)] {
            guard case .failed(_, refused: false)? = node.events.result(of: dial) else {
                Issue.record("a dial that didn't fail: \(node.events.suffix(5))")
                continue
            }
        }
        #expect(bob.texts(from: alice.peer).isEmpty)

        alice.answer([:])
        bob.dial(alice)
        try alice.wait { $0.count { if case .linkUp(bob.peer, _, _) = $0 { true } else { false } } == 2 }
    }
}
