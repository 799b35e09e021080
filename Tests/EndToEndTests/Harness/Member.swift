import Control
import Foundation
import Glibc
import Locking
import SystemCalls

/// Somebody in a room: a state directory, and the chatd that runs on it from time to time.
final class Member: Sendable {
    let name: String
    let room: String
    let host: Host
    let state: String
    let downloads: String
    private let scratch: Scratch
    private let arguments: [String]
    private let running = Locked<Daemon?>(nil)

    /// - Parameters:
    ///   - directory: What its files are called in `scratch`, if not like itself.
    ///   - arguments: For chatd at each start, beside room, name and directories.
    init(
        _ name: String, in room: String, on host: Host, keeping scratch: Scratch, directory: String? = nil,
        _ arguments: [String] = []
    ) {
        self.name = name
        self.room = room
        self.host = host
        self.scratch = scratch
        self.arguments = arguments
        state = scratch(directory ?? name)
        downloads = scratch("\(directory ?? name)-downloads")
    }

    var client: Client { Client(state: state, on: host) }

    /// The chatd that was started last.
    var daemon: Daemon {
        get throws {
            guard let daemon = running.withLock({ $0 }) else { throw LabFailure("\(name) was never started") }
            return daemon
        }
    }

    /// Starts a chatd; with `isHeld` it begins when ``release()`` says so, at once.
    @discardableResult
    func start(isHeld: Bool = false, _ more: String...) throws -> Daemon {
        let daemon = try Daemon(
            ["--room", room, "--name", name, "--downloads", downloads] + arguments + more, state: state, on: host,
            isHeld: isHeld)
        running.withLock { $0 = daemon }
        return daemon
    }

    func release() throws { try daemon.process.write("\n") }

    /// Asks it to leave, and gives how long that took.
    @discardableResult
    func leave() async throws -> Duration {
        let began = ContinuousClock.now
        let exit = try await daemon.terminate()
        guard exit == .status(0) else { throw LabFailure("chatd of \(name) left with \(exit)") }
        return ContinuousClock.now - began
    }

    func kill() async throws { try await daemon.kill() }

    // MARK: What its user sees

    /// `chat log --json`, all of it.
    func lines() async throws -> [LineView] { try await ask("log", "-n", "100000", "--json") }

    /// `chat peers --json`.
    func peers() async throws -> [PeerView] { try await ask("peers", "--json") }

    /// The texts in its transcript, in order.
    func texts() async throws -> [String] { try await lines().compactMap { $0.kind == .text ? $0.text : nil } }

    /// How often its chatd has said that somebody came, since its start.
    func arrivals(of name: String) throws -> Int { try daemon.log.count { $0 == "chatd: '\(name)' is Connected" } }

    /// How often its chatd has said that somebody went, since its start.
    func departures(of name: String) throws -> Int {
        try daemon.log.count { $0 == "chatd: '\(name)' is Not Connected" }
    }

    /// `chat send`.
    func send(_ text: String) async throws {
        let outcome = try await client.run("send", "--", text)
        guard outcome.exit == .status(0) else { throw LabFailure("\(name): \(outcome.errors)") }
    }

    /// Waits until these texts have come, in any order, and maybe others too.
    func awaitTexts(_ texts: [String], within limit: Duration = .seconds(10)) async throws {
        var seen: [String] = []
        let haveCome = try await eventually(within: limit) {
            seen = try await self.texts()
            return Set(texts).isSubset(of: seen)
        }
        if !haveCome { throw TimedOut("\(name) has \(texts), and not only \(seen)", within: limit) }
    }

    private func ask<Answer: Decodable>(_ arguments: String...) async throws -> [Answer] {
        let outcome = try await client.run(arguments)
        guard outcome.exit == .status(0) else { throw LabFailure("\(name): \(arguments): \(outcome.errors)") }
        return try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }
}

/// Waits until each of them has seen each other one come.
func awaitMeeting(_ members: [Member], within limit: Duration = .seconds(10)) async throws {
    var missing: [String] = []
    let haveMet = try await eventually(within: limit) {
        missing = []
        for member in members {
            for other in members where other !== member {
                if try member.arrivals(of: other.name) == 0 { missing.append("\(member.name) sees \(other.name)") }
            }
        }
        return missing.isEmpty
    }
    guard haveMet else {
        let logs = try members.flatMap { try $0.daemon.log }.joined(separator: "\n")
        throw TimedOut("\(missing.joined(separator: ", ")):\n\(logs)", within: limit)
    }
}

/// Lets all of them leave at once; one that doesn't leave as it should is an error.
func leave(_ members: [Member]) async throws {
    try await withThrowingTaskGroup { group in
        for member in members { group.addTask { try await member.leave() } }
        try await group.waitForAll()
    }
}

/// Puts a figure into the tests' output.
func measured(_ what: String, _ duration: Duration) {
    print("measured: \(what): \(Int(duration / .milliseconds(1))) ms")
}
