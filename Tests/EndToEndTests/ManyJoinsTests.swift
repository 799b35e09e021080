import Control
import Foundation
import Locking
import Testing

/// Case B29: members that come, are seen and leave again, one after the other without an end.
///
/// JOINS of them (24), each with a key of its own, 8 at a time: `JOINS=2000` is the long form.
@Suite(.fewAtOnce) struct ManyJoinsTests {
    private static let joins = setting("JOINS") ?? 24
    private static let atOnce = 8
    /// Who connects to the socket and closes, at the same time, and how often for each member that comes.
    private static let clients = 4
    private static let connects = 5

    /// What a process holds that it has to give back.
    private struct Holding {
        var descriptors: Int
        var threads: Int
        var memory: Int

        init(of peer: LocalPeer) { (descriptors, threads, memory) = (peer.descriptors, peer.threads, peer.memory) }
    }

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(.timeLimit(.minutes(60)))
    func `members and clients that come and go one after the other leave nothing behind`() async throws {
        let alice = try await LocalPeer.start("alice", in: scratch)
        #expect(try await alice.client.run("send", "what each of them fetches").exit == .status(0))
        _ = try ask(alice)
        let before = Holding(of: alice)
        let (joined, isOver) = (Locked(0), Locked(false))
        async let answers = slowestAnswer(of: alice) { isOver.withLock { $0 } }

        try await withThrowingTaskGroup { group in
            for lane in 0..<Self.atOnce {
                group.addTask {
                    for number in stride(from: lane, to: Self.joins, by: Self.atOnce) {
                        try await visit(alice, as: "guest-\(number)")
                        joined.withLock { $0 += 1 }
                    }
                }
            }
            for _ in 0..<Self.clients { group.addTask { try await knock(at: alice) { joined.withLock { $0 } } } }
            try await group.waitForAll()
        }
        isOver.withLock { $0 = true }
        let slowest = try await answers

        measured("the slowest answer among \(Self.joins) joins", slowest)
        #expect(slowest < promised(.seconds(1)))
        for change in ["Connected", "Not Connected"] {
            let rows = await eventually { alice.daemon.log.count { $0.hasSuffix("' is \(change)") } == Self.joins }
            #expect(rows, "\(change)")
        }
        #expect(try ask(alice).allSatisfy { $0.state == .away })
        let isEven = await eventually(within: .seconds(30)) {
            alice.descriptors <= before.descriptors && alice.threads <= before.threads
        }
        let after = Holding(of: alice)
        print("measured: from \(before) to \(after), memory in KiB")
        #expect(isEven)
        #expect(after.memory - before.memory < 10 << 10)
        #expect(alice.daemon.process.exit == nil)
    }

    /// Somebody new comes, sees the other, and leaves.
    private func visit(_ host: LocalPeer, as name: String) async throws {
        let guest = try LocalPeer(name, in: scratch, dialling: [host.place])
        try await guest.isLinked(with: "alice")
        #expect(try await guest.daemon.terminate(within: .seconds(20)) == .status(0))
        try FileManager.default.removeItem(atPath: guest.daemon.state)
    }

    /// Connects to the socket and closes, again and again, as fast as members come.
    private func knock(at host: LocalPeer, joined: () -> Int) async throws {
        let count = Self.joins * Self.connects / Self.clients
        for number in 0..<count {
            while number > (joined() + Self.atOnce) * Self.connects / Self.clients {
                try await Task.sleep(for: .milliseconds(5))
            }
            _ = try RawSocket(path: "\(host.daemon.state)/chatd.sock")
        }
    }

    private func slowestAnswer(of host: LocalPeer, until isOver: @Sendable () -> Bool) async throws -> Duration {
        var slowest = Duration.zero
        while !isOver() {
            let begin = ContinuousClock.now
            _ = try ask(host)
            slowest = max(slowest, ContinuousClock.now - begin)
            try await Task.sleep(for: .milliseconds(50))
        }
        return slowest
    }

    /// Whom it knows, asked as a new client.
    private func ask(_ host: LocalPeer) throws -> [PeerView] {
        let locator = DaemonLocator(stateDirectory: host.daemon.state, room: nil, environment: [:])
        let client = try ControlClient.connect(to: locator, waiting: {}, events: { _ in })
        defer { client.close() }
        return try client.call(.peers, NoFields(), within: 20_000).peers
    }
}
