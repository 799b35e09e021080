import Control
import Foundation
import Locking
import Testing

/// A peer whose process stands still, and keeps its connections: a laptop that sleeps, a debugger, a SIGSTOP.
///
/// It stands for STOPPED seconds (3), while LINES (200) of 1 KiB are said: `STOPPED=60 LINES=2000` is the long form.
@Suite(.fewAtOnce) struct StoppedPeerTests {
    private static let stopped = setting("STOPPED") ?? 3
    private static let lines = setting("LINES") ?? 200
    /// What may wait for one peer in memory, in KiB.
    ///
    /// The short form runs beside all other tests and allows as much again: 10 MiB were seen there once, why isn't known.
    private static let share = stopped < 20 ? 16 << 10 : 8 << 10

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(.timeLimit(.minutes(10)))
    func `who stands still delays nobody, fills nobody's memory, and has all soon after it goes on`() async throws {
        let (alice, bob, carol) = try await three()
        let file = try scratch.file("large.png", picture(20 << 20))
        try await say(Self.lines, "before", by: alice)
        _ = try await alice.client.run("send-image", file, within: .seconds(60))
        for member in [bob, carol] { try await member.awaits(Self.lines, "before") }
        let pace = try Pace(from: alice, to: bob)
        let before = (alice.memory, bob.memory)

        carol.daemon.stop()
        let stop = ContinuousClock.now
        let sending = try alice.client.start("send-image", try scratch.file("second.png", picture(20 << 20, seed: 2)))
        for part in 1...Self.stopped {
            try await say(Self.lines / Self.stopped, "\(part) while", by: alice)
            try await Task.sleep(until: stop + .seconds(part))
        }
        let said = Self.lines / Self.stopped * Self.stopped
        #expect(await eventually { pace.count == said })
        let growth = (alice.memory - before.0, bob.memory - before.1)
        carol.daemon.proceed()
        let resumed = ContinuousClock.now

        measured("the slowest line from alice to bob", pace.slowest)
        #expect(pace.slowest < promised(.seconds(1)))
        print("measured: memory grew by \(growth.0) and \(growth.1) KiB")
        #expect(max(growth.0, growth.1) < Self.share)
        try await carol.awaits(said, "while", within: promised(.seconds(5)))
        measured("the stopped one has all after it went on", ContinuousClock.now - resumed)
        _ = try await sending.exit(within: .seconds(60))
        _ = try await carol.image("second.png") { $0.state == .received }
        #expect(try await carol.texts() == alice.texts())
    }

    private func three() async throws -> (LocalPeer, LocalPeer, LocalPeer) {
        let places = [Place.new(), .new(), .new()]
        let members = try zip(["alice", "bob", "carol"], places).map { name, place in
            try LocalPeer(name, in: scratch, at: place, dialling: places.filter { $0.address != place.address })
        }
        for member in members {
            for name in ["alice", "bob", "carol"] where !member.daemon.state.hasSuffix("\(name)-state") {
                try await member.isLinked(with: name)
            }
        }
        return (members[0], members[1], members[2])
    }

    private func say(_ count: Int, _ mark: String, by member: LocalPeer) async throws {
        let lines = (1...count).map { "\(mark) \($0) ".padding(toLength: 1024, withPad: "x", startingAt: 0) }
        let outcome = try await member.client.run("send", "-", input: lines.joined(separator: "\n"))
        #expect(outcome.exit == .status(0), "\(outcome.errors)")
    }
}

extension LocalPeer {
    /// Waits until it has so many texts with `mark` in them.
    fileprivate func awaits(_ count: Int, _ mark: String, within limit: Duration = .seconds(30)) async throws {
        var seen = 0
        let isThere = try await eventually(within: limit) {
            seen = try await texts().count { $0.contains(mark) }
            return seen == count
        }
        if !isThere { throw TimedOut("\(count) texts with '\(mark)', and not \(seen)", within: limit) }
    }
}

/// How long each text takes from the author's own transcript to another's.
private final class Pace: Sendable {
    private let watches: [Watch]
    private let times: Locked<Times>

    private struct Times: Sendable {
        var left: [String: ContinuousClock.Instant] = [:]
        var slowest = Duration.zero
        var count = 0

        mutating func note(_ id: String) {
            let now = ContinuousClock.now
            guard let other = left.removeValue(forKey: id) else { return left[id] = now }
            slowest = max(slowest, max(now, other) - min(now, other))
            count += 1
        }
    }

    init(from author: LocalPeer, to reader: LocalPeer) throws {
        let times = Locked(Times())
        watches = try [author, reader].map { member in
            try Watch(member.daemon.state) { notification in
                guard case .line(let line) = notification, let id = line.id, line.kind == .text else { return }
                times.withLock { $0.note(id) }
            }
        }
        self.times = times
    }

    /// Of the texts that both have shown.
    var slowest: Duration { times.withLock { $0.slowest } }

    /// How many both have shown.
    var count: Int { times.withLock { $0.count } }
}
