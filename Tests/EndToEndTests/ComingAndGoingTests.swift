import Control
import Foundation
import Glibc
import Testing

/// Who leaves, crashes and comes back, on one host.
struct ComingAndGoingTests {
    private let scratch = try? Scratch()

    @Test func `a chatd that is asked to leaves within 2 s, others see it at once, and it keeps its port`() async throws
    {
        let (host, scratch) = (Host.lonely(try await Lonely()), try #require(scratch))
        let members = ["alice", "bob"].map { Member($0, in: "lab", on: host, keeping: scratch) }
        for member in members { try member.start() }
        try await awaitMeeting(members)
        let port = try await port(of: members[1])

        let began = ContinuousClock.now
        try members[1].daemon.process.signal(SIGTERM)
        let isSeen = try await eventually { try members[0].departures(of: "bob") == 1 }
        let seen = ContinuousClock.now - began
        let exit = try await members[1].daemon.process.exit(within: .seconds(5))
        let left = ContinuousClock.now - began

        measured("others see a leave", seen)
        measured("a leave", left)
        #expect(isSeen && seen < .seconds(1))
        #expect(exit == .status(0) && left < .seconds(2))
        #expect(try members[1].daemon.log.last == "chatd: leaving 'lab'")
        #expect(try await members[0].peers().map(\.state) == [.away])
        let alone = try await members[0].client.run("send", "still", "here")
        #expect(alone.exit == .status(0) && alone.errors == "stored; nobody else is in lab yet\n")

        try members[1].start()
        try await awaitMeeting(members)
        try await members[1].awaitTexts(["still here"])
        #expect(try await self.port(of: members[1]) == port)
        let isBack = try await eventually { try members[0].arrivals(of: "bob") == 2 }
        #expect(try isBack && members[0].departures(of: "bob") == 1)
        try await leave(members)
    }

    /// The seconds that the third is away: AWAY, else only as long as the others need.
    private static let away = setting("AWAY") ?? 0

    @Test func `who was away gets what was said meanwhile, also by somebody who has left`() async throws {
        let (host, scratch) = (Host.lonely(try await Lonely()), try #require(scratch))
        let members = ["alice", "bob", "carol"].map { Member($0, in: "lab", on: host, keeping: scratch) }
        let (alice, bob, carol) = (members[0], members[1], members[2])
        let file = try scratch.file("plan.jpg", try SampleImage.jpeg(size: 2_500_000))
        for member in members { try member.start() }
        try await awaitMeeting(members)
        try await alice.send("before")
        try await carol.awaitTexts(["before"])

        try await carol.leave()
        let gone = ContinuousClock.now
        try await alice.send("while carol is away")
        #expect(try await alice.client.run("send-image", file).exit == .status(0))
        try await bob.send("bob, too")
        try await alice.awaitTexts(["bob, too"])
        try await alice.leave()
        try await Task.sleep(until: gone + .seconds(Self.away), clock: .continuous)
        try carol.start()

        try await awaitMeeting([bob, carol])
        try await carol.awaitTexts(["before", "while carol is away", "bob, too"])
        #expect(try await carol.texts() == (try await bob.texts()))
        let image = try await first("the image") {
            try await carol.lines().first { $0.image?.state == .received }
        }
        #expect(image.name == "alice")
        #expect(checksum(ofFile: image.image?.path) == checksum(ofFile: file))
        try await leave([bob, carol])
    }

    @Test func `a crash while an image comes is one Not Connected, and the image is whole after the next start`()
        async throws
    {
        let (host, scratch) = (Host.lonely(try await Lonely()), try #require(scratch))
        let members = ["alice", "bob"].map {
            Member($0, in: "lab", on: host, keeping: scratch, ["--auto-fetch", "1G"])
        }
        let (alice, bob) = (members[0], members[1])
        let file = try scratch.file("plan.jpg", try SampleImage.jpeg(size: 96 << 20))
        for member in members { try member.start() }
        try await awaitMeeting(members)
        // Stopped where its progress is told: a test that looked now and then might come after the end.
        let receiver = try bob.daemon
        let watch = try Watch(alice) { transfer in if transfer.completed > 4 << 20 { receiver.stop() } }
        let sending = try alice.client.start("send-image", file)
        let hasBegun = await eventually { watch.transfers.last.map { $0.completed > 4 << 20 } == true }
        try #require(hasBegun)
        try await bob.kill()

        let ending = try await sending.exit(within: .seconds(10))
        #expect(ending == .status(75))
        #expect(sending.errors.lines == ["bob: no longer connected"])
        #expect(try await eventually(within: .seconds(3)) { try alice.departures(of: "bob") == 1 })
        try await alice.send("while bob is dead")

        try bob.start()
        try await bob.awaitTexts(["while bob is dead"])
        let image = try await first("the image") {
            try await bob.lines().compactMap(\.image).first { $0.state == .received }
        }
        #expect(checksum(ofFile: image.path) == checksum(ofFile: file))
        #expect(try await eventually { try alice.arrivals(of: "bob") == 2 })
        #expect(try alice.departures(of: "bob") == 1)
        #expect(try bob.arrivals(of: "alice") == 1 && bob.departures(of: "alice") == 0)
        try await leave(members)
    }

    private func port(of member: Member) async throws -> String {
        let line = try await member.daemon.log("its port") { $0.contains(", port ") }
        return String(line.split(separator: " ").last ?? "")
    }
}
