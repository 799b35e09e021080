import Control
import Foundation
import Testing

/// Reading on where one left off, by times and by authors.
@Suite(.fewAtOnce) struct CursorTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func lines(_ output: String) throws -> [LineView] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(LineView.self, from: Data($0.utf8)) }
    }

    private func lines(_ peer: LocalPeer, _ words: String...) async throws -> [LineView] {
        let outcome = try await peer.client.run(["log", "--json"] + words)
        try #require(outcome.exit == .status(0), "\(outcome.errors)")
        return try lines(outcome.output)
    }

    @Test func `a follower that is killed goes on at its last cursor, and has each message once`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        var seen: [LineView] = []
        var cursor = try await lines(alice, "-n", "1").last?.cursor
        for round in 0..<4 {
            let follower = try alice.client.start("log", "--follow", "--json", "--after", try #require(cursor))
            for number in 1...50 {
                let sender = number.isMultiple(of: 2) ? alice : bob
                #expect(try await sender.client.run("send", "\(round) \(number)").exit == .status(0))
                // Some come while nobody follows.
                if number == 30 { follower.signal(SIGKILL, all: true) }
            }
            _ = try await follower.exit(within: .seconds(20))
            // What was cut off in the middle of a line was not read.
            let whole = follower.output.text.lastIndex(of: "\n").map { follower.output.text[...$0] } ?? ""
            let read = try lines(String(whole))
            #expect(read.allSatisfy { $0.cursor != nil })
            seen += read
            cursor = read.last?.cursor ?? cursor
        }
        seen += try await lines(alice, "--after", try #require(cursor))

        let texts = seen.filter { $0.kind == .text }.compactMap(\.text)
        #expect(Set(texts).count == texts.count)
        #expect(Set(texts) == Set((0..<4).flatMap { round in (1...50).map { "\(round) \($0)" } }))
    }

    @Test func `a cursor of a lost history is status 76 and one line`() async throws {
        let place = Place.new()
        let alice = try await LocalPeer.start("alice", in: scratch, at: place)
        #expect(try await alice.client.run("send", "hi").exit == .status(0))
        let cursor = try #require(try await lines(alice).last?.cursor)
        #expect(try await alice.daemon.terminate() == .status(0))
        for name in try FileManager.default.contentsOfDirectory(atPath: alice.daemon.state)
        where name.hasPrefix("history.db") {
            try FileManager.default.removeItem(atPath: "\(alice.daemon.state)/\(name)")
        }

        let again = try await LocalPeer.start("alice", in: scratch, at: place)
        for words in [["log", "--after", cursor], ["log", "--follow", "--after", cursor]] {
            let outcome = try await again.client.run(words)
            #expect(outcome.exit == .status(76))
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(outcome.errors.hasPrefix("chat: the cursor is of another history"))
        }
        #expect(try await again.client.run("log", "--after", "tomorrow").exit == .status(64))
    }

    @Test func `lines are read by author and time`() async throws {
        let (alice, bob) = try await pair(in: scratch)
        for number in 1...3 {
            #expect(try await alice.client.run("send", "alice \(number)").exit == .status(0))
            #expect(try await bob.client.run("send", "bob \(number)").exit == .status(0))
        }
        try await eventuallyHas(alice, 6)

        #expect(try await lines(alice, "--from", "bob", "-n", "2").map(\.text) == ["bob 2", "bob 3"])
        #expect(try await lines(alice, "--from", "alice").map(\.text) == ["alice 1", "alice 2", "alice 3"])
        #expect(try await lines(alice, "--since", "1h").count { $0.kind == .text } == 6)
        #expect(try await lines(alice, "--until", "1h").isEmpty)
        let stranger = try await alice.client.run("log", "--from", "carol")
        #expect(stranger.exit == .status(64))
        #expect(stranger.errors.hasPrefix("chat: 'carol' is nobody known here: "))
    }

    private func eventuallyHas(_ peer: LocalPeer, _ count: Int) async throws {
        #expect(try await eventually { try await peer.texts().count == count })
    }
}
