import Foundation
import Identity
import Testing

/// A discovery-probe process, and the lines it has printed.
///
/// `@unchecked`: `printed` is guarded by `changed`.
final class Probe: @unchecked Sendable {
    let key: SigningKey
    let port: UInt16
    private let place: AnyObject  // goes after the probe in it
    private let child: Child
    private let changed = NSCondition()
    private var printed: [UInt8] = []

    static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    // The prefix runs a command where the probe shall be, such as `nsenter … --`.
    init(
        in place: AnyObject, _ prefix: [String], mode: String, room: String = "lab", name: String, port: UInt16,
        key: SigningKey = SigningKey(), _ more: [String] = []
    ) throws {
        self.place = place
        self.key = key
        self.port = port
        let command = Self.directory.appendingPathComponent("discovery-probe").path
        child = try Child(prefix + [command, mode, room, name, "\(port)", key.seed.hexadecimal] + more)
        Thread.detachNewThread { [child, weak self] in
            while let bytes = child.read() { self?.append(bytes) }
        }
    }

    deinit { child.end() }

    private func append(_ bytes: [UInt8]) {
        changed.lock()
        printed += bytes
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
        while !condition(lines(of: printed)) {
            if !changed.wait(until: deadline) { return condition(lines(of: printed)) }
        }
        return true
    }

    var lines: [String] {
        changed.lock()
        defer { changed.unlock() }
        return lines(of: printed)
    }

    private func lines(of bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
            $0.split(separator: " ", maxSplits: 1).last.map(String.init)
        }
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

    /// Waits for the instance that it goes by in a keyed room at first (0), or after so many changes.
    func instance(_ number: Int) throws -> String {
        var instances: [String] = []
        _ = waits(upTo: 20) { lines in
            instances = lines.filter { $0.hasPrefix("concealed ") || $0.hasPrefix("renamed ") }
                .map { String($0.split(separator: " ")[1]) }
            return instances.count > number
        }
        return try #require(instances.dropFirst(number).first, "no instance \(number)")
    }

    /// Ends the subscription, and waits for the probe's last line and end.
    func leave() -> Bool {
        child.endInput()
        return waits(upTo: 5) { $0.last == "withdrawn" }
    }

    /// Ends it as a crash does.
    func crash() {
        child.end()
    }

    /// Open files of the process.
    var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.pid)/fd").count) ?? 0
    }
}

/// A network namespace of its own, with only `lo`, that needs no privileges to make.
final class LonelyHost {
    private let child: Child

    init() throws {
        child = try Child(["unshare", "-Ur", "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"])
        try #require(child.read() == Array("ready\n".utf8), "no namespace can be made here")
    }

    deinit { child.end() }

    var prefix: [String] {
        ["nsenter", "--target", "\(child.pid)", "--user", "--preserve-credentials", "--net", "--"]
    }
}
