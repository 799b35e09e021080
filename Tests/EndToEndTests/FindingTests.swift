import Control
import Foundation
import Testing

extension LabTests {
    /// Finding peers when multicast lies or is silent: hosts 1 to 3 have an avahi-daemon, 4 and 5 none.
    ///
    /// `FINDING=full` takes the long forms: avahi-daemon killed 20 times, and stopped for 60 s.
    @Suite(.sharedLab(5, avahi: .only([1, 2, 3]))) struct Finding {
        private static let isFull = ProcessInfo.processInfo.environment["FINDING"] == "full"
        private static let kills = isFull ? 20 : 3
        private static let hang = isFull ? Duration.seconds(60) : .seconds(15)
        private static let forged = 6_000

        private let scratch = try? Scratch()

        private func member(_ name: String, _ room: String, _ host: Int, _ more: String...) async throws -> Member {
            Member(name, in: room, on: try await SharedLab.healed()[host], keeping: try #require(scratch), more)
        }

        private func expectUnbroken(_ members: [Member]) throws {
            for member in members {
                for other in members where other !== member {
                    #expect(try member.departures(of: other.name) == 0 && member.arrivals(of: other.name) == 1)
                }
            }
        }

        /// Threat F1, and case B12.
        @Test func `avahi-daemon is killed again and again: no link drops, and one advert of each is left`()
            async throws
        {
            let lab = try await SharedLab.healed()
            let alice = try await member("alice", "kills", 1), bob = try await member("bob", "kills", 2)
            for member in [alice, bob] { try member.start() }
            try await awaitMeeting([alice, bob])
            let latency = try Latency(from: alice, to: bob)
            measured("a line before", try await latency.during { try await Task.sleep(for: .seconds(2)) })
            let descriptors = try alice.daemon.descriptorCount

            let times = try await latency.during {
                for round in 1...Self.kills {
                    try await lab.avahi(1, .kill)
                    let isBack = try await eventually(within: .seconds(20)) {
                        try alice.daemon.log.count { $0 == "chatd: discovery: avahi-daemon" } > round
                    }
                    #expect(isBack)
                }
            }

            measured("a line while avahi-daemon is killed \(Self.kills) times", times)
            try expectUnbroken([alice, bob])
            #expect(try await eventually { try alice.daemon.descriptorCount <= descriptors })
            let carol = try await member("carol", "kills", 3, "--discovery", "avahi")
            try carol.start()
            try await awaitMeeting([alice, bob, carol])
            try await leave([alice, bob, carol])
        }

        /// Threat F2.
        @Test func `avahi-daemon hangs: no link drops, lines are as fast, and a newcomer is found`() async throws {
            let lab = try await SharedLab.healed()
            let alice = try await member("alice", "hangs", 1), bob = try await member("bob", "hangs", 2)
            let carol = try await member("carol", "hangs", 3)
            for member in [alice, bob] { try member.start() }
            try await awaitMeeting([alice, bob])
            let latency = try Latency(from: alice, to: bob)
            measured("a line before", try await latency.during { try await Task.sleep(for: .seconds(2)) })

            try await lab.avahi(1, .stop)
            let times: [Duration]
            do {
                times = try await latency.during {
                    try await Task.sleep(for: Self.hang)
                    try carol.start()
                    let began = ContinuousClock.now
                    try await awaitMeeting([alice, carol], within: .seconds(30))
                    measured("a newcomer is found by a host whose avahi-daemon hangs", ContinuousClock.now - began)
                }
                try await lab.avahi(1, .cont)
            } catch {
                try await lab.avahi(1, .cont)
                throw error
            }

            measured("a line while avahi-daemon hangs", times)
            #expect(try alice.daemon.log.count { $0.contains("doesn't answer") } == 1)
            try await awaitMeeting([alice, bob, carol])
            try expectUnbroken([alice, bob, carol])
            #expect(try await alice.leave() < .seconds(3))
            try await leave([bob, carol])
        }

        /// Threats A8 and F10. Last: the daemons stay blind for as long as the forged records live.
        @Test func `thousands of forged instances blind avahi-daemon: who is known comes back, and newcomers come in`()
            async throws
        {
            let lab = try await SharedLab.healed()
            let port = "[::]:7311"
            let alice = try await member("alice", "blind", 1, "--listen", port)
            let bob = try await member("bob", "blind", 2)
            for member in [alice, bob] { try member.start() }
            try await awaitMeeting([alice, bob])
            let latency = try Latency(from: alice, to: bob)
            measured("a line before", try await latency.during { try await Task.sleep(for: .seconds(2)) })
            let memory = try alice.daemon.residentKiB

            let times = try await latency.during {
                try await lab.run(5, [LabScripts.mdnsForge, "flood", "\(Self.forged)"])
                try await lab.run(5, [LabScripts.mdnsForge, "flood", "\(Self.forged / 4)", "--room", "blind"])
            }
            measured("a line under \(Self.forged) forged instances", times)
            print("measured: chatd grew by \(try alice.daemon.residentKiB - memory) KiB")
            for member in [alice, bob] {
                try await member.daemon.log("that it watches itself") { $0.contains("watching by embedded mDNS too") }
            }
            try expectUnbroken([alice, bob])

            try await bob.kill()
            let known = ContinuousClock.now
            try bob.start()
            try await awaitMeeting([bob, alice], within: .seconds(5))
            measured("a known peer is back", ContinuousClock.now - known)

            let carol = try await member("carol", "blind", 3)
            let newcomer = ContinuousClock.now
            try carol.start()
            try await awaitMeeting([alice, bob, carol], within: .seconds(30))
            measured("a newcomer with a blinded avahi-daemon", ContinuousClock.now - newcomer)

            let dave = try await member("dave", "blind", 4, "--discovery", "none", "--peer", "10.77.0.1:7311")
            let guest = ContinuousClock.now
            try dave.start()
            try await awaitMeeting([alice, bob, carol, dave], within: .seconds(30))
            measured("a newcomer that knows one member alone", ContinuousClock.now - guest)
            print("measured: chatd grew by \(try alice.daemon.residentKiB - memory) KiB")
            #expect(try alice.departures(of: "carol") == 0 && alice.departures(of: "bob") <= 1)
            try await leave([alice, bob, carol, dave])
        }
    }
}

extension Daemon {
    /// Open files of the process.
    var descriptorCount: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd").count }
    }

    /// VmRSS (proc_pid_status(5)).
    var residentKiB: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return line.flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0
        }
    }
}

extension Lab {
    /// Runs a command on a host, which must go well.
    func run(_ host: Int, _ command: [String]) async throws {
        let child = try Subprocess(command, on: self[host])
        let exit = try await child.exit(within: .seconds(120))
        guard exit == .status(0) else { throw LabFailure("\(command): \(exit): \(child.errors.text)") }
    }
}
