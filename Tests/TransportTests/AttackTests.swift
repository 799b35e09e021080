import Foundation
import HostilePeer
import Identity
import Testing

@testable import Transport

/// Each way of being a bad peer that `chat-evil` has, and somebody in the middle (threats A2 to A4, A9 to A13).
@Suite struct AttackTests {
    private func limits() -> TransportLimits {
        var limits = TransportLimits()
        limits.opening = .seconds(1)
        return limits
    }

    @Test(arguments: Attack.allCases)
    func `a bad peer hears nothing before its proof, and is cut off for the first rule that it breaks after`(
        attack: Attack
    ) throws {
        let node = try Node(limits: limits())
        var attacker = Attacker(target: node.endpoint, room: node.room)
        attacker.patience = attack == .flood ? 1 : 8

        let finding = try attacker.attempt(attack)

        #expect(finding.isAsPromised(of: attack), "\(finding)")
        #expect(node.events.isUp(attacker.key.peer) == attack.isMembers)
        let friend = Keyring.newPeer()
        _ = try FakePeer.link(to: node, as: friend)
        try node.wait { $0.isUp(friend) }
    }

    @Test func `a member who names somebody else's link as replaced takes nothing from it`() throws {
        let (node, honest, mallory) = (try Node(), Keyring.newPeer(), Keyring.newPeer())
        let instance = ProcessInstance()
        let link = try FakePeer.link(to: node, as: honest, instance: instance, number: 7)
        try node.wait { $0.isUp(honest) }

        let evil = try FakePeer.link(
            to: node, as: mallory, number: 1, replaces: LinkName(dialler: honest, instance: instance, number: 7))
        try node.wait { $0.isUp(mallory) }
        let again = try FakePeer.link(to: node, as: mallory, instance: instance, number: 7)
        try again.write(Frame(kind: Node.text, body: [2]))
        try link.write(Frame(kind: Node.text, body: [1]))

        try node.wait { _ in node.texts(from: honest) == [[1]] }
        #expect(node.events.down(honest) == [])
        withExtendedLifetime((evil, again)) {}
    }

    /// 25 attempts, or as many as MIDDLE_ATTEMPTS says.
    private var attempts: Int { ProcessInfo.processInfo.environment["MIDDLE_ATTEMPTS"].flatMap { Int($0) } ?? 25 }

    @Test func `a man in the middle of a keyed room gets no link and no application byte, however often he tries`()
        throws
    {
        let room = try #require(RoomKey(room: RoomID(openRoom: "keyed"), secret: randomBytes(RoomKey.length)))
        let (alice, bob) = (try Node(room: room), try Node(room: room))
        let middle = [
            try Middleman(before: bob.endpoint), try Middleman(before: bob.endpoint, as: SigningKey()),
            // He knows the room's name, and the key of the open room of that name.
            try Middleman(before: bob.endpoint, room: RoomKey(openRoom: room.room)),
        ]
        for attempt in 0..<attempts {
            let expected = attempt.isMultiple(of: 2) ? nil : bob.peer
            let dial = alice.transport.dial([middle[attempt % 3].endpoint], expecting: expected)
            try alice.wait { $0.result(of: dial) != nil }
            guard case .failed? = alice.events.result(of: dial) else {
                Issue.record("attempt \(attempt): \(alice.events.suffix(3))")
                return
            }
        }

        try eventually { middle.map(\.report.connections).reduce(0, +) == attempts }
        for man in middle { #expect(man.report.fromDiallers == 0 && man.report.fromAcceptors == 0, "\(man.report)") }
        // Without an expectation the dialler goes as far as its proof.
        #expect(middle[0].report.proofs + middle[1].report.proofs > 0 && middle[2].report.proofs == 0)
        for node in [alice, bob] {
            #expect(!node.events.contains { if case .linkUp = $0 { true } else { false } })
            #expect(!node.events.contains { if case .frame = $0 { true } else { false } })
        }
        #expect(bob.events.refusals.allSatisfy { $0.contains("no proof") || $0.contains("not a groupchat peer") })

        let honest = alice.dial(bob)
        try alice.wait { $0.result(of: honest) == .linked(bob.peer) }
    }

    @Test func `in an open room a man in the middle is a peer of his own, and never taken for the one expected`() throws
    {
        let (alice, bob) = (try Node(), try Node())
        let middle = try Middleman(before: bob.endpoint, room: alice.room, as: SigningKey())

        let expecting = alice.transport.dial([middle.endpoint], expecting: bob.peer)
        try alice.wait { if case .failed = $0.result(of: expecting) { true } else { false } }
        let anybody = alice.transport.dial([middle.endpoint], expecting: nil)
        try alice.wait { if case .linked = $0.result(of: anybody) { true } else { false } }

        #expect(!alice.events.isUp(bob.peer) && !bob.events.isUp(alice.peer))
    }
}
