import Foundation
import Identity
import Testing

/// Real multicast DNS between processes on one host with only `lo`, without privileges.
@Suite(.serialized, .timeLimit(.minutes(2))) struct EmbeddedTests {
    private let host: LonelyHost

    init() throws { host = try LonelyHost() }

    private func probe(
        _ name: String, _ port: UInt16, mode: String = "embedded", room: String = "lab", key: SigningKey = SigningKey()
    )
        throws -> Probe
    {
        try Probe(in: host, host.prefix, mode: mode, room: room, name: name, port: port, key: key)
    }

    @Test func `three stacks on one host see one another, nobody sees itself, and who leaves is missed at once`() throws
    {
        let alice = try probe("alice", 7001), bob = try probe("bob", 7002), carol = try probe("carol", 7003)

        #expect(alice.sees(bob, within: 10) && alice.sees(carol, within: 10))
        #expect(bob.sees(alice, within: 10) && bob.sees(carol, within: 10))
        #expect(carol.sees(alice, within: 10) && carol.sees(bob, within: 10))
        let left = Date()
        #expect(bob.leave())
        #expect(Date().timeIntervalSince(left) < 1.5)
        #expect(alice.misses(bob, within: 3) && carol.misses(bob, within: 3))

        for probe in [alice, bob, carol] {
            #expect(!probe.lines.contains { $0.hasPrefix("found \(probe.key.peer)") })
        }
    }

    @Test func `a peer that crashed and came back under another name is one peer by its new name`() throws {
        let alice = try probe("alice", 7001), bob = try probe("bob", 7002)
        #expect(bob.sees(alice, within: 10))

        alice.crash()
        let alicia = try probe("alicia", 7011, key: alice.key)

        #expect(bob.sees(alicia, within: 10))
        #expect(bob.lines.last { $0.hasPrefix("found") }?.hasSuffix(" alicia-\(alice.key.peer.suffix)") == true)
        #expect(alicia.sees(bob, within: 10))
        #expect(!alicia.lines.contains { $0.hasPrefix("found \(alice.key.peer)") })
    }

    @Test func `another room, and one that doesn't announce itself, stay unseen`() throws {
        let bob = try probe("bob", 7002), stranger = try probe("mallory", 7003, room: "other")
        let silent = try probe("silent", 7004, mode: "none")
        let alice = try probe("alice", 7001)

        #expect(bob.sees(alice, within: 10) && alice.sees(bob, within: 10))
        #expect(stranger.works(with: "embedded mDNS"))
        #expect(silent.leave())

        #expect(silent.lines.map { $0.prefix(7) } == ["started", "withdra"])
        for probe in [alice, bob] {
            #expect(!probe.lines.contains { $0.contains("\(stranger.key.peer)") || $0.contains("\(silent.key.peer)") })
        }
    }

    @Test func `without a daemon, auto means the stack in the process`() throws {
        let alice = try probe("alice", 7001, mode: "auto"), bob = try probe("bob", 7002)

        #expect(alice.works(with: "embedded mDNS", within: 3))
        #expect(alice.sees(bob, within: 10) && bob.sees(alice, within: 10))
    }

    @Test func `without a system bus, avahi says so once, waits, and can be left within a second`() throws {
        let alice = try Probe(
            in: host, ["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent"] + host.prefix, mode: "avahi",
            name: "alice",
            port: 7001)

        #expect(alice.waits(upTo: 5) { $0.last?.hasPrefix("trouble") == true })
        #expect(!alice.waits(upTo: 5) { $0.count > 2 })
        let left = Date()
        #expect(alice.leave())
        #expect(Date().timeIntervalSince(left) < 1.5)
    }

    @Test func `a keyed room's member takes another name from time to time, and is seen by that alone`() throws {
        let secret = randomBytes(RoomKey.length).hexadecimal
        let often = [secret, "4000"], never = [secret, "3600000"]
        let alice = try Probe(in: host, host.prefix, mode: "embedded", name: "alice", port: 7001, often)
        let bob = try Probe(in: host, host.prefix, mode: "embedded", name: "bob", port: 7002, never)
        let names = [try alice.instance(0), try alice.instance(1)]

        #expect(bob.waits(upTo: 10) { $0.contains { $0.hasPrefix("sighted \(names[1])") } })
        let isGone = bob.waits(upTo: 20) { $0.last { $0.contains(names[0]) }?.hasPrefix("vanished") == true }
        #expect(isGone, "\(bob.lines)")
        #expect(!alice.lines.contains { line in line.hasPrefix("sighted") && names.contains { line.contains($0) } })
        #expect(!bob.lines.contains { $0.hasPrefix("renamed") })
    }
}
