import Control
import Foundation
import Glibc
import Locking
import Testing

/// Where a daemon waits for peers: an address of lo that no other daemon of any test has.
struct Place: Sendable, CustomStringConvertible {
    let address: String
    let port: UInt16

    var description: String { "\(address):\(port)" }

    /// One that wasn't given out before.
    static func new() -> Place {
        let count = given.withLock { count in
            defer { count += 1 }
            return count
        }
        let process = Int(getpid())
        return Place(
            address: "127.\(process >> 8 & 0xff).\(process & 0xff).\(2 + count % 250)", port: UInt16(7311 + count / 250)
        )
    }

    private static let given = Locked(0)
}

/// A daemon on lo, which finds others by `--peer` alone.
struct LocalPeer: Sendable {
    let daemon: Daemon
    let place: Place

    var client: Client { daemon.client }

    /// Starts one and waits until it is up.
    ///
    /// - Parameters:
    ///   - name: Also of its state directory.
    ///   - more: Further options.
    static func start(
        _ name: String, in scratch: Scratch, room: String = "lab", at place: Place = .new(),
        dialling peers: [Place] = [],
        on host: Host = .here, _ more: String...
    ) async throws -> LocalPeer {
        let member = try LocalPeer(name, in: scratch, room: room, at: place, dialling: peers, on: host, more)
        try await member.isUp()
        return member
    }

    init(
        _ name: String, in scratch: Scratch, room: String = "lab", at place: Place = .new(),
        dialling peers: [Place] = [],
        on host: Host = .here, _ more: [String] = []
    ) throws {
        self.place = place
        daemon = try Daemon(
            ["--room", room, "--name", name, "--downloads", scratch("\(name)-downloads")] + Self.options(place, peers)
                + more, state: scratch("\(name)-state"), on: host)
    }

    static func options(_ place: Place, _ peers: [Place] = []) -> [String] {
        ["--discovery", "none", "--listen", "\(place)"] + peers.flatMap { ["--peer", "\($0)"] }
    }

    func isUp(within limit: Duration = .seconds(20)) async throws {
        try await daemon.log("how to talk through it", within: limit) { $0.contains("try: chat ") }
    }

    func isLinked(with name: String, within limit: Duration = .seconds(20)) async throws {
        try await daemon.log("\(name) connected", within: limit) { $0.contains("'\(name)' is Connected") }
    }

    /// The rows of its transcript, oldest first.
    func rows() async throws -> [LineView] {
        let outcome = try await client.run("log", "-n", "100000", "--json", within: .seconds(60))
        try #require(outcome.exit == .status(0), "\(outcome.errors)")
        return try outcome.lines.map { try JSONDecoder().decode(LineView.self, from: Data($0.utf8)) }
    }

    /// What was said, oldest first.
    func texts() async throws -> [String] { try await rows().filter { $0.kind == .text }.compactMap(\.text) }

    /// The row of the image with that name, once it is as wanted.
    func image(
        _ name: String, within limit: Duration = .seconds(20), where isWanted: (ImageView) -> Bool
    ) async throws -> ImageView {
        var last: [ImageView] = []
        return try await first("an image '\(name)'; there are \(last)", within: limit) {
            last = try await rows().compactMap(\.image)
            return last.last { $0.name == name && isWanted($0) }
        }
    }

    /// Whom it knows.
    func peers() async throws -> [PeerView] {
        let outcome = try await client.run("peers", "--json")
        try #require(outcome.exit == .status(0), "\(outcome.errors)")
        return try outcome.lines.map { try JSONDecoder().decode(PeerView.self, from: Data($0.utf8)) }
    }

    /// How many descriptors it has open.
    var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.process.pid)/fd").count) ?? 0
    }

    /// How many threads it has.
    var threads: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.process.pid)/task").count) ?? 0
    }

    /// What it has in memory, in KiB.
    var memory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(daemon.process.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

/// Starts two that dial each other, and waits until they are linked.
func pair(in scratch: Scratch, _ more: String...) async throws -> (alice: LocalPeer, bob: LocalPeer) {
    let (here, there) = (Place.new(), Place.new())
    let alice = try LocalPeer("alice", in: scratch, at: here, dialling: [there], more)
    let bob = try LocalPeer("bob", in: scratch, at: there, dialling: [here], more)
    for member in [alice, bob] { try await member.isUp() }
    try await alice.isLinked(with: "bob")
    try await bob.isLinked(with: "alice")
    return (alice, bob)
}

/// Runs a command to its end.
func run(
    _ command: [String], on host: Host = .here, environment: [String: String] = [:], input: String? = nil,
    within limit: Duration = .seconds(20)
) async throws -> Outcome {
    let begin = ContinuousClock.now
    let process = try Subprocess(
        command, on: host, environment: environment, input: input.map { .bytes(Array($0.utf8)) } ?? .nothing)
    let exit = try await process.exit(within: limit)
    return Outcome(
        output: process.output.text, errors: process.errors.text, exit: exit, duration: ContinuousClock.now - begin)
}

/// Bytes that begin as a PNG file does and go on at random, always the same for one seed.
func picture(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    var bytes: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 7, 0, 0, 0, 5, 8,
        2,
        0, 0, 0,
    ]
    bytes.reserveCapacity(count)
    while bytes.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(truncatingIfNeeded: state >> 56))
    }
    return Array(bytes.prefix(count))
}
