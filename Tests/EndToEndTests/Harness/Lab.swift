import Foundation
import Glibc
import Locking

/// Several hosts on this machine, made by `Tests/lab/lab`, which says what each verb does. Needs root.
///
/// It goes down with the last reference to it; daemons and clients on its hosts hold one.
final class Lab: Sendable {
    /// Which hosts have an avahi-daemon.
    enum Avahi: Sendable {
        case all
        case none
        case only([Int])
    }

    enum AvahiVerb: String, Sendable {
        case stop, cont, kill, off, on
    }

    let name: String

    /// Makes hosts 1 to `count`.
    static func up(_ count: Int, avahi: Avahi = .all) async throws -> Lab {
        let lab = Lab()
        var arguments = ["up", "\(count)"]
        switch avahi {
        case .all: break
        case .none: arguments.append("--no-avahi")
        case .only(let hosts): arguments += ["--avahi", hosts.map { "h\($0)" }.joined(separator: ",")]
        }
        try await lab.run(arguments)
        return lab
    }

    private static let made = Locked(0)

    private init() {
        let number = Self.made.withLock {
            $0 += 1
            return $0
        }
        let prefix = ProcessInfo.processInfo.environment["LAB_PREFIX"] ?? "test"
        name = "\(prefix)-\(getpid())-\(number)"
    }

    deinit {
        guard let down = try? Subprocess(["env", "LAB_NAME=\(name)", LabScripts.lab, "down"]) else { return }
        while down.exit == nil { usleep(10_000) }
    }

    subscript(host: Int) -> Host { .lab(self, host) }

    func unplug(_ host: Int) async throws { try await run(["unplug", "h\(host)"]) }
    func cut(_ host: Int) async throws { try await run(["cut", "h\(host)"]) }
    func drop(_ one: Int, _ other: Int) async throws { try await run(["drop", "h\(one)", "h\(other)"]) }
    func heal() async throws { try await run(["heal"]) }
    func avahi(_ host: Int, _ verb: AvahiVerb) async throws { try await run(["avahi", "h\(host)", verb.rawValue]) }

    private func run(_ arguments: [String]) async throws {
        let lab = try Subprocess(["env", "LAB_NAME=\(name)", LabScripts.lab] + arguments)
        let exit = try await lab.exit(within: .seconds(60))
        guard exit == .status(0) else {
            throw LabFailure(
                "lab \(arguments.joined(separator: " ")): \(exit): \(lab.errors.lines.joined(separator: "; "))")
        }
    }
}
