import Foundation
import Identity
import Testing

/// Real avahi-daemons on hosts of the lab.
@Suite(.serialized, .enabled(if: Lab.isPossible || Lab.isRequired, "needs root"), .timeLimit(.minutes(5)))
struct DaemonTests {
    private func eachSeesTheOthers(_ probes: [Probe], within seconds: Double) -> Bool {
        probes.allSatisfy { one in probes.allSatisfy { one === $0 || one.sees($0, within: seconds) } }
    }

    @Test func `daemons and stacks in the process see one another, between hosts and on one`() throws {
        let lab = try Lab(hosts: 3)
        try lab.run(["avahi", "h3", "off"])
        let probes = [
            try lab.probe("h1", "avahi", "alice", 7001), try lab.probe("h1", "avahi", "anna", 7011),
            try lab.probe("h2", "auto", "bob", 7002), try lab.probe("h2", "embedded", "bill", 7012),
            try lab.probe("h3", "auto", "carol", 7003),
        ]

        #expect(eachSeesTheOthers(probes, within: 5))
        #expect(probes[2].works(with: "avahi-daemon") && probes[4].works(with: "embedded mDNS"))
        #expect(probes[0].leave())
        #expect(probes[1...].allSatisfy { $0.misses(probes[0], within: 4) })
        probes[1].crash()
        #expect(probes[2...].allSatisfy { $0.misses(probes[1], within: 4) })
    }

    @Test func `a daemon that stops and starts again has us again, and nobody is lost meanwhile`() throws {
        let lab = try Lab(hosts: 2)
        let alice = try lab.probe("h1", "avahi", "alice", 7001), bob = try lab.probe("h2", "avahi", "bob", 7002)
        #expect(eachSeesTheOthers([alice, bob], within: 5))
        let descriptors = alice.descriptorCount

        for round in 1...3 {
            try lab.run(["avahi", "h1", "off"])
            #expect(alice.waits(upTo: 5) { lines in lines.filter { $0.hasPrefix("trouble") }.count == round })
            #expect(bob.misses(alice, within: 5))
            try lab.run(["avahi", "h1", "on"])
            #expect(alice.works(with: "avahi-daemon"))
            #expect(bob.sees(alice, within: 10))
        }

        #expect(!alice.lines.contains { $0.hasPrefix("lost") })
        #expect(alice.waits(upTo: 5) { _ in alice.descriptorCount == descriptors })
        let carol = try lab.probe("h2", "avahi", "carol", 7003)
        #expect(carol.sees(alice, within: 5))
    }

    @Test func `a daemon that starts later is used from then on`() throws {
        let lab = try Lab(hosts: 2)
        try lab.run(["avahi", "h1", "off"])
        let alice = try lab.probe("h1", "avahi", "alice", 7001), bob = try lab.probe("h2", "avahi", "bob", 7002)
        #expect(alice.waits(upTo: 5) { $0.last?.hasPrefix("trouble") == true })

        try lab.run(["avahi", "h1", "on"])

        #expect(eachSeesTheOthers([alice, bob], within: 10))
        #expect(alice.lines.filter { $0.hasPrefix("trouble") }.count == 1)
    }

    @Test func `a hung daemon is told of, delays nobody's leaving, and is used again when it goes on`() throws {
        let lab = try Lab(hosts: 2)
        let alice = try lab.probe("h1", "avahi", "alice", 7001), anna = try lab.probe("h1", "avahi", "anna", 7011)
        let bob = try lab.probe("h2", "avahi", "bob", 7002)
        #expect(eachSeesTheOthers([alice, anna, bob], within: 5))

        try lab.run(["avahi", "h1", "stop"])
        defer { try? lab.run(["avahi", "h1", "cont"]) }
        #expect(alice.waits(upTo: 20) { $0.last == "trouble avahi-daemon doesn't answer; waiting for it" })
        let left = Date()
        #expect(anna.leave())
        #expect(Date().timeIntervalSince(left) < 1.5)
        let carol = try lab.probe("h1", "auto", "carol", 7003)
        #expect(carol.works(with: "embedded mDNS", within: 4))
        #expect(carol.sees(bob, within: 5))
        try lab.run(["avahi", "h1", "cont"])

        #expect(alice.works(with: "avahi-daemon", within: 30))
        #expect(bob.sees(alice, within: 5))
    }

    @Test func `a changed address is announced, with and without a daemon`() throws {
        let lab = try Lab(hosts: 3)
        let alice = try lab.probe("h1", "avahi", "alice", 7001), bob = try lab.probe("h2", "embedded", "bob", 7002)
        let carol = try lab.probe("h3", "avahi", "carol", 7003)
        #expect(eachSeesTheOthers([alice, bob, carol], within: 5))

        for host in ["h1", "h2"] {
            try lab.on(host, "ip", "addr", "del", "10.77.0.\(host.last == "1" ? 1 : 2)/16", "dev", "eth0")
            try lab.on(host, "ip", "addr", "add", "10.77.9.\(host.last == "1" ? 1 : 2)/16", "dev", "eth0")
        }

        for (peer, address) in [(alice, "10.77.9.1:7001"), (bob, "10.77.9.2:7002")] {
            let isThere = carol.waits(upTo: 15) { lines in
                lines.last { $0.contains("found \(peer.key.peer)") }?.contains(address) == true
            }
            #expect(isThere, "\(carol.lines)")
        }
    }

    @Test func `a cable that was out is noticed when it is in again`() throws {
        let lab = try Lab(hosts: 2, avahi: false)
        let alice = try lab.probe("h1", "embedded", "alice", 7001)
        #expect(alice.works(with: "embedded mDNS"))
        try lab.run(["unplug", "h1"])
        let bob = try lab.probe("h2", "embedded", "bob", 7002)
        #expect(bob.works(with: "embedded mDNS"))

        try lab.run(["heal"])

        #expect(eachSeesTheOthers([alice, bob], within: 15))
    }

    @Test func `a keyed room's member takes another name at avahi-daemon too`() throws {
        let lab = try Lab(hosts: 2)
        let secret = randomBytes(RoomKey.length).hexadecimal
        let alice = try lab.probe("h1", "avahi", "alice", 7001, [secret, "4000"])
        let bob = try lab.probe("h2", "avahi", "bob", 7002, [secret, "3600000"])
        let names = [try alice.instance(0), try alice.instance(1)]

        #expect(bob.waits(upTo: 10) { $0.contains { $0.hasPrefix("sighted \(names[1])") } })
        #expect(bob.waits(upTo: 10) { $0.last { $0.contains(names[0]) }?.hasPrefix("vanished") == true })
    }

    /// Case B12, 3.
    @Test func `a daemon that is killed again and again leaves one advert and no descriptor behind`() throws {
        let kills = ProcessInfo.processInfo.environment["FINDING"] == "full" ? 20 : 3
        let lab = try Lab(hosts: 2)
        let alice = try lab.probe("h1", "avahi", "alice", 7001), carol = try lab.probe("h2", "avahi", "carol", 7003)
        #expect(eachSeesTheOthers([alice, carol], within: 5))
        let descriptors = alice.descriptorCount

        for round in 1...kills {
            try lab.run(["avahi", "h1", "kill"])
            #expect(alice.waits(upTo: 15) { lines in lines.filter { $0 == "using avahi-daemon" }.count == round + 1 })
        }

        let bob = try lab.probe("h2", "avahi", "bob", 7002)
        #expect(bob.sees(alice, within: 10))
        let adverts = bob.lines.filter { $0.hasPrefix("found \(alice.key.peer)") }.compactMap {
            $0.split(separator: " ").last
        }
        #expect(Set(adverts).count == 1)
        #expect(alice.waits(upTo: 5) { _ in alice.descriptorCount == descriptors })
    }
}
