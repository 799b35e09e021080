import Control
import Foundation
import Testing

extension LabTests {
    /// Interfaces that go down, change and flap; hosts 1 and 2 have an avahi-daemon, 3 none.
    ///
    /// `INTERFACES=full` takes the long forms, each for a host with an avahi-daemon and one without.
    @Suite(.sharedLab(3, avahi: .only([1, 2]))) struct Interfaces {
        private static let isFull = ProcessInfo.processInfo.environment["INTERFACES"] == "full"
        /// Shorter than the 15 s of silence after which a peer is away, and longer.
        private static let outages: [Int] = isFull ? [10, 20] : [18]
        private static let quiet = isFull ? Duration.seconds(600) : .seconds(10)
        private static let linkedAgain = Duration.seconds(15)

        private let scratch = try? Scratch()

        private func members(_ room: String, _ hosts: [Int], names: [String] = ["alice", "bob", "carol"]) async throws
            -> [Member]
        {
            let lab = try await SharedLab.healed()
            let scratch = try #require(scratch)
            return zip(names, hosts).enumerated().map { index, place in
                Member(place.0, in: room, on: lab[place.1], keeping: scratch, directory: "\(room)-\(index)")
            }
        }

        /// Case B27.
        @Test(arguments: isFull ? [2, 3] : [2])
        func `an interface that was down is used again, and seen once to go and to come`(
            host: Int
        ) async throws {
            let lab = try await SharedLab.healed()
            let both = try await members("down\(host)", [1, host])
            let (alice, bob) = (both[0], both[1])
            for member in both { try member.start() }
            try await awaitMeeting(both)
            for (round, seconds) in Self.outages.enumerated() {
                let before = try (alice.departures(of: "bob"), bob.departures(of: "alice"))
                try await lab.on(host, "ip link set eth0 down")
                try await Task.sleep(for: .seconds(seconds))
                try await lab.on(host, "ip link set eth0 up")
                let up = ContinuousClock.now

                for member in both { try await member.send("\(member.name) \(round)") }
                for member in both {
                    try await member.awaitTexts(["alice \(round)", "bob \(round)"], within: Self.linkedAgain)
                }
                measured(
                    "linked again after \(seconds) s without an interface on host \(host)", ContinuousClock.now - up)
                for (member, other, count) in [(alice, bob, before.0), (bob, alice, before.1)] {
                    let gone = try member.departures(of: other.name) - count
                    #expect(seconds < 15 ? gone <= 1 : gone == 1)
                    #expect(try await eventually { try member.arrivals(of: other.name) == count + gone + 1 })
                }
            }
            try await leave(both)
        }

        /// Case B27.
        @Test(arguments: isFull ? [2, 3] : [3])
        func `an address that changes while a host is away is found, and remembered`(
            host: Int
        ) async throws {
            let lab = try await SharedLab.healed()
            let both = try await members("moved\(host)", [1, host])
            for member in both { try member.start() }
            try await awaitMeeting(both)

            try await lab.on(host, "ip link set eth0 down && ip addr flush dev eth0")
            let haveGone = try await eventually(within: .seconds(20)) {
                try both[0].departures(of: "bob") == 1 && both[1].departures(of: "alice") == 1
            }
            #expect(haveGone)
            try await lab.on(host, "ip addr add 10.77.0.\(90 + host)/16 dev eth0 && ip link set eth0 up")
            let up = ContinuousClock.now
            let areBack = try await eventually(within: Self.linkedAgain) {
                try both[0].arrivals(of: "bob") == 2 && both[1].arrivals(of: "alice") == 2
            }
            measured("linked again after a change of address of host \(host)", ContinuousClock.now - up)
            #expect(areBack)
            #expect(try both[0].departures(of: "bob") == 1 && both[1].departures(of: "alice") == 1)
            let endpoint = try await both[0].peers().first?.endpoint
            #expect(endpoint?.hasPrefix("10.77.0.\(host):") == false, "\(endpoint ?? "none")")

            try await leave(both)
            try await lab.on(host, "ip addr flush dev eth0; ip addr add 10.77.0.\(host)/16 dev eth0")
            try await lab.on(host, "ip link set eth0 down; ip link set eth0 up")
        }

        /// Case B27.
        @Test(arguments: [2, 3]) func `who starts while its interface flaps is announced and linked afterwards`(
            host: Int
        ) async throws {
            let lab = try await SharedLab.healed()
            let both = try await members("flaps\(host)", [1, host])
            try both[0].start()
            let flapping = Task {
                for _ in 1...6 {
                    try await lab.on(host, "ip link set eth0 down; sleep 0.5; ip link set eth0 up; sleep 0.5")
                }
            }
            try await Task.sleep(for: .milliseconds(700))
            try both[1].start()
            try await flapping.value
            let up = ContinuousClock.now

            try await awaitMeeting(both, within: Self.linkedAgain)
            measured("linked after a start on a flapping interface of host \(host)", ContinuousClock.now - up)
            let carol = try await members("flaps\(host)", [1, 1, 1])[2]
            try carol.start()
            try await awaitMeeting(both + [carol])
            try await leave(both + [carol])
        }

        /// Case B17, 1 and 3.
        @Test func `a quiet room shows nothing, and a gap of 2 s neither`() async throws {
            let lab = try await SharedLab.healed()
            let both = try await members("quiet", [1, 3])
            for member in both { try member.start() }
            try await awaitMeeting(both)

            try await Task.sleep(for: Self.quiet)
            try await lab.cut(3)
            for member in both { try await member.send("\(member.name) in the gap") }
            try await Task.sleep(for: .seconds(2))
            try await lab.heal()

            for member in both { try await member.awaitTexts(["alice in the gap", "bob in the gap"]) }
            for (member, other) in [(both[0], "bob"), (both[1], "alice")] {
                #expect(try member.departures(of: other) == 0 && member.arrivals(of: other) == 1)
            }
            try await leave(both)
        }

        /// Case B24.
        @Test func `three hosts of one name are three, and keep it whatever their interfaces do`() async throws {
            let lab = try await SharedLab.healed()
            let all = try await members("namesakes", [1, 2, 3], names: ["alice", "alice", "alice"])
            for member in all { try member.start() }
            for member in all {
                #expect(try await eventually { try member.arrivals(of: "alice") == 2 })
            }
            let ids = try await all.asyncMap { Set(try await $0.peers().map(\.peer)) }
            #expect(ids.allSatisfy { $0.count == 2 } && Set(ids).count == 3)
            for (index, member) in all.enumerated() { try await member.send("from \(index)") }
            for member in all { try await member.awaitTexts(["from 0", "from 1", "from 2"]) }
            for member in all {
                let lines = try await member.lines().filter { $0.kind == .text }
                #expect(lines.count == 3 && Set(lines.map(\.author)).count == 3)
            }

            for _ in 1...2 {
                try await lab.on(2, "ip link set eth0 down; sleep 1; ip link set eth0 up; sleep 1")
            }
            try await Task.sleep(for: Self.isFull ? .seconds(300) : .seconds(3))

            for (index, member) in all.enumerated() { try await member.send("again \(index)") }
            for member in all { try await member.awaitTexts(["again 0", "again 1", "again 2"], within: .seconds(15)) }
            for (member, known) in zip(all, ids) {
                let peers = try await member.peers()
                #expect(Set(peers.map(\.peer)) == known && peers.allSatisfy { $0.name == "alice" && $0.warning != nil })
                #expect(try !member.daemon.log.contains { $0.contains("is now called") })
            }
            try await leave(all)
        }
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
