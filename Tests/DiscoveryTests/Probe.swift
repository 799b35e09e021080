import Foundation
import Identity
import Testing

/// A discovery-probe process, and the lines it has printed.
///
/// `@unchecked`: `printed` is guarded by `changed`; the process is only asked what any thread may ask.
final class Probe: @unchecked Sendable {
    let key: SigningKey
    let port: UInt16
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let changed = NSCondition()
    private var printed = ""

    static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    /// - Parameter prefix: What runs a command where the probe shall be, such as `nsenter … --`.
    init(
        _ prefix: [String], mode: String, room: String = "lab", name: String, port: UInt16, key: SigningKey = SigningKey()
    ) throws {
        self.key = key
        self.port = port
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            prefix + [
                Self.directory.appendingPathComponent("discovery-probe").path, mode, room, name, "\(port)",
                key.seed.hexadecimal,
            ]
        process.standardInput = input
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            data.isEmpty ? handle.readabilityHandler = nil : self?.append(data)
        }
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    private func append(_ data: Data) {
        changed.lock()
        printed += String(decoding: data, as: UTF8.self)
        changed.broadcast()
        changed.unlock()
    }

    /// Waits until the lines so far, without their times, are as `condition` wants them.
    ///
    /// - Returns: Whether they were, before the time was over.
    func waits(upTo seconds: Double, until condition: ([String]) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        changed.lock()
        defer { changed.unlock() }
        while !condition(lines(of: printed)) { if !changed.wait(until: deadline) { return condition(lines(of: printed)) } }
        return true
    }

    var lines: [String] {
        changed.lock()
        defer { changed.unlock() }
        return lines(of: printed)
    }

    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").compactMap { $0.split(separator: " ", maxSplits: 1).last.map(String.init) }
    }

    /// Whether the last thing said of a peer is where it is, and that with its port.
    func sees(_ other: Probe, within seconds: Double) -> Bool {
        waits(upTo: seconds) { lines in
            guard let last = lines.last(where: { $0.contains(other.key.peer.description) && !$0.hasPrefix("started") })
            else { return false }
            return last.hasPrefix("found") && last.contains(":\(other.port)")
        }
    }

    func misses(_ other: Probe, within seconds: Double) -> Bool {
        waits(upTo: seconds) { $0.last { $0.contains(other.key.peer.description) }?.hasPrefix("lost") == true }
    }

    func works(with stack: String, within seconds: Double = 10) -> Bool {
        waits(upTo: seconds) { $0.last { $0.hasPrefix("using") || $0.hasPrefix("trouble") } == "using \(stack)" }
    }

    /// Ends the subscription, and waits for the probe's last line and end.
    func leave() -> Bool {
        try? input.fileHandleForWriting.close()
        return waits(upTo: 5) { $0.last == "withdrawn" }
    }

    /// Ends it as a crash does.
    func crash() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Open files of the process.
    var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count) ?? 0
    }
}

/// A network namespace of its own, with only `lo`, that needs no privileges to make.
final class LonelyHost {
    private let process = Process()
    private let input = Pipe()

    init() throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["unshare", "-Ur", "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let answer = try output.fileHandleForReading.read(upToCount: 6)
        try #require(answer == Data("ready\n".utf8), "no namespace can be made here")
    }

    deinit { kill(process.processIdentifier, SIGKILL) }

    var prefix: [String] {
        ["nsenter", "--target", "\(process.processIdentifier)", "--user", "--preserve-credentials", "--net", "--"]
    }
}
