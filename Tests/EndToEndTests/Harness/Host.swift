import Glibc

/// Where a program under test runs.
enum Host: Sendable {
    /// On this machine as it is.
    case here
    /// On host hK of a lab.
    case lab(Lab, Int)
    /// On a host whose only interface is lo.
    case lonely(Lonely)
    /// There, as a user without any right, who runs these programs; for tests that run as root.
    indirect case unprivileged(Host, Programs)

    /// What to run so that `command` runs there, with the process id of what was run.
    func command(_ command: [String]) -> [String] {
        switch self {
        case .here: command
        case .lab(let lab, let number): ["env", "LAB_NAME=\(lab.name)", LabScripts.lab, "on", "h\(number)"] + command
        case .lonely(let lonely): [LabScripts.lab, "inside", "\(lonely.pid)"] + command
        case .unprivileged(let host, _):
            host.command(
                geteuid() == 0
                    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] + command : command)
        }
    }

    /// The programs under test that run there.
    var programs: Programs {
        if case .unprivileged(_, let programs) = self { return programs }
        return .built
    }
}

/// A host whose only interface is lo and that has no system bus. Needs no root.
final class Lonely: Sendable {
    private let holder: Subprocess

    var pid: pid_t { holder.pid }

    /// Returns when the host is there.
    init() async throws {
        holder = try Subprocess([LabScripts.lab, "lonely", "sh", "-c", "echo ready; exec cat"], input: .open)
        let isReady = try await eventually { [holder] in
            if let exit = holder.exit { throw LabFailure("lonely: \(exit): \(holder.errors.text)") }
            return holder.output.lines == ["ready"]
        }
        guard isReady else { throw TimedOut("a lonely host", within: .seconds(10)) }
    }
}

/// What `Tests/lab/lab` said.
struct LabFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
