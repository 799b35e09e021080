import Foundation
import Testing

/// Hosts with their own network, D-Bus and avahi-daemon (Tests/lab/lab); they need root.
final class Lab {
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("lab/lab").path
    static var isPossible: Bool { geteuid() == 0 }
    /// Whether a test that can't run here counts as failed.
    static var isRequired: Bool { ProcessInfo.processInfo.environment["REQUIRE_ROOT_TESTS"] == "1" }
    /// One lab a process: others may have theirs.
    private static let environment = ["LAB_NAME=disco\(getpid())"]

    init(hosts: Int, avahi: Bool = true) throws {
        try #require(Self.isPossible, "the lab needs root")
        try run(["down"])
        try run(["up", "\(hosts)"] + (avahi ? [] : ["--no-avahi"]))
    }

    deinit { try? run(["down"]) }

    func run(_ arguments: [String]) throws {
        let child = try Child(["env"] + Self.environment + [Self.script] + arguments)
        while child.read() != nil {}
        #expect(child.wait() == 0, "lab \(arguments.joined(separator: " "))")
    }

    func on(_ host: String, _ command: String...) throws { try run(["on", host] + command) }

    func probe(_ host: String, _ mode: String, _ name: String, _ port: UInt16, _ more: [String] = []) throws -> Probe {
        let prefix = ["env"] + Self.environment + [Self.script, "on", host]
        return try Probe(in: self, prefix, mode: mode, name: name, port: port, more)
    }
}
