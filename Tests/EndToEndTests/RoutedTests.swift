import Testing

extension LabTests {
    /// Two networks that a router joins: host 1 on the first, host 2 on the second alone, host 3 between them.
    @Suite(.sharedLab(3, avahi: .none)) struct Routed {
        private static let alicePlace = "10.77.0.1:7311"

        private let scratch = try? Scratch()

        private func member(_ name: String, _ host: Int, _ more: String...) async throws -> Member {
            let lab = try await SharedLab.healed()
            return Member(
                name, in: "routed", on: lab[host], keeping: try #require(scratch), ["--discovery", "none"] + more)
        }

        private func route() async throws {
            let lab = try await SharedLab.healed()
            try await lab.connect(2, 3, by: "side0")
            try await lab.on(3, "echo 1 >/proc/sys/net/ipv4/ip_forward")
            try await lab.on(2, "ip link set eth0 down; ip route add 10.77.0.0/16 via 10.88.0.3")
            try await lab.on(1, "ip route add 10.88.0.0/24 via 10.77.0.3")
        }

        @Test func `from beyond our networks come those who are hinted or remembered, and no strangers`() async throws {
            try await route()
            let alice = try await member("alice", 1, "--listen", "[::]:7311", "--peer", "10.77.0.3:7311")
            let carol = try await member("carol", 3, "--listen", "[::]:7311")
            let stranger = try await member("stranger", 2, "--peer", Self.alicePlace)
            for member in [alice, carol, stranger] { try member.start() }
            try await awaitMeeting([alice, carol])
            try await alice.daemon.log("that a stranger isn't let in") {
                $0.contains("10.88.0.2") && $0.contains("not on a network of ours")
            }
            try await stranger.leave()

            let bob = try await member("bob", 2, "--listen", "[::]:7311", "--peer", "10.88.0.3:7311")
            try bob.start()
            try await awaitMeeting([alice, bob, carol])
            #expect(try alice.arrivals(of: "stranger") == 0)
            try await leave([alice, bob, carol])

            // Where alice remembers him, nobody listens any more: he has to come to her.
            let again = try await member("alice", 1, "--listen", "[::]:7311")
            let moved = try await member("bob", 2, "--listen", "[::]:7312", "--peer", Self.alicePlace)
            for member in [again, moved] { try member.start() }
            try await awaitMeeting([again, moved])
            try await leave([again, moved])
        }
    }
}
