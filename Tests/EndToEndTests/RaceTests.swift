import Control
import Foundation
import Testing

/// Two chatd that start in the same instant.
struct RaceTests {
    /// How often: RACES, else 20 times.
    private static let races = setting("RACES") ?? 20
    /// So many pairs at a time: two cores carry no more.
    private static let pairs = 3

    private let scratch = try? Scratch()

    @Test(.timeLimit(.minutes(10)))
    func `two that start in the same instant have one link, and lose, repeat and show nothing for that`() async throws {
        let (host, scratch) = (Host.lonely(try await Lonely()), try #require(scratch))
        try await withThrowingTaskGroup { group in
            for pair in 0..<Self.pairs {
                group.addTask {
                    for race in stride(from: pair, to: Self.races, by: Self.pairs) {
                        try await run(race, of: pair, on: host, scratch)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Every second time they know where to dial and need not be announced first; every fourth one is a first start.
    private func run(_ race: Int, of pair: Int, on host: Host, _ scratch: Scratch) async throws {
        let generation = race / Self.pairs / 4
        let isAnnounced = (race / Self.pairs).isMultiple(of: 2)
        let ports = [7_000 + 2 * pair, 7_001 + 2 * pair]
        let members = (0...1).map { index in
            let places = ["--discovery", "none", "--peer", "127.0.0.1:\(ports[1 - index])"]
            return Member(
                ["alice", "bob"][index], in: "pair\(pair)", on: host, keeping: scratch,
                directory: "\(pair)-\(generation)-\(index)",
                ["--listen", "[::]:\(ports[index])"] + (isAnnounced ? ["--discovery", "embedded"] : places))
        }
        for member in members { try member.start(isHeld: true) }
        for member in members { try member.release() }
        try await awaitMeeting(members)

        try await exchange("of race \(race)", members)
        try await expectOneLink(members, "race \(race)")
        for (member, other) in zip(members, members.reversed()) {
            #expect(try member.arrivals(of: other.name) == 1, "race \(race)")
            #expect(try member.departures(of: other.name) == 0, "race \(race)")
        }
        try await leave(members)
    }

    private func exchange(_ what: String, _ members: [Member]) async throws {
        let texts = members.map { "from \($0.name) \(what)" }
        try await withThrowingTaskGroup { group in
            for (member, text) in zip(members, texts) { group.addTask { try await member.send(text) } }
            try await group.waitForAll()
        }
        for member in members {
            try await member.awaitTexts(texts)
            let seen = try await member.texts().filter { $0.hasSuffix(what) }
            #expect(seen.count == 2, "each line once, and not \(seen)")
        }
    }
}
