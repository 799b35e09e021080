import Dispatch
import HostilePeer
import Identity
import Testing

@testable import Transport

/// Proxies and storms, which other tests and the measurement of floods stand on.
@Suite struct StormTests {
    @Test func `a proxy passes on what is said, and does to it what it is told`() throws {
        let (alice, bob) = (try Node(), try Node())
        let cases: [(String, (inout TCPProxy.Faults) -> Void, isLinked: Bool)] = [
            ("nothing", { _ in }, true), ("delay", { $0.delay = .milliseconds(5) }, true),
            ("flip", { $0.flip = 300 }, false), ("cut", { $0.cut = 500 }, false), ("drop", { $0.drop = 100 }, false),
            ("drip", { ($0.drip, $0.delay) = (100, .milliseconds(1)) }, true),
        ]
        for (name, change, isLinked) in cases {
            var faults = TCPProxy.Faults()
            change(&faults)
            let proxy = try TCPProxy(to: bob.endpoint, faults)
            let dial = alice.transport.dial([proxy.endpoint], expecting: bob.peer)
            try alice.wait { $0.result(of: dial) != nil }

            #expect((alice.events.result(of: dial) == .linked(bob.peer)) == isLinked, "\(name): \(isLinked)")
            #expect(proxy.connections == 1)
        }
    }

    @Test(arguments: [Attack.garbage, .silent, .leave])
    func `a storm from this host leaves room for a peer, and nothing behind`(attack: Attack) throws {
        var limits = TransportLimits()
        limits.opening = .milliseconds(300)
        let node = try Node(limits: limits)
        let attacker = Attacker(target: node.endpoint, room: node.room)
        let storm = Storm(attack, by: attacker, rate: 500, connections: 30, for: .seconds(1))

        let tally = storm.run()

        #expect(tally.connected > 25 && tally.open <= 30, "\(tally)")
        _ = try FakePeer.link(to: node, as: Keyring.newPeer())
        try eventually { node.transport.core.queue.sync { node.transport.core.gate.total } <= 1 }
        try eventually { node.sockets.count <= 1 }
    }
}
