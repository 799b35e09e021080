import Control
import Testing

/// A TCP connection, by its two ports.
struct TCPConnection: Hashable, CustomStringConvertible {
    let local: UInt16
    let remote: UInt16

    /// The same one as its other end sees it.
    var reversed: TCPConnection { TCPConnection(local: remote, remote: local) }

    var description: String { "\(local)-\(remote)" }
}

extension Daemon {
    /// Its connections with others that are in this state now (ss(8)).
    func connections(_ state: String = "established") async throws -> [TCPConnection] {
        let ss = try Subprocess(["ss", "-tnpH", "state", state], on: host)
        guard try await ss.exit(within: .seconds(10)) == .status(0) else { throw LabFailure("ss: \(ss.errors.text)") }
        return ss.output.lines.filter { $0.contains("pid=\(process.pid),") }.compactMap { line in
            let ports = line.split(separator: " ").dropFirst(2).prefix(2).compactMap { address in
                address.split(separator: ":").last.flatMap { UInt16($0) }
            }
            return ports.count == 2 ? TCPConnection(local: ports[0], remote: ports[1]) : nil
        }
    }
}

/// Expects that two have exactly one link, the same one, and tell of that one.
///
/// The one that lost is read to its end for at most 2 s.
func expectOneLink(_ members: [Member], _ comment: Comment? = nil) async throws {
    var connections: [[TCPConnection]] = []
    let isOne = try await eventually(within: .seconds(5)) {
        connections = []
        for member in members { connections.append(try await member.daemon.connections()) }
        return connections.allSatisfy { $0.count == 1 } && connections[0][0] == connections[1][0].reversed
    }
    #expect(isOne, comment ?? "\(connections)")
    for (member, connection) in zip(members, connections) {
        let endpoint = try await member.peers().first?.endpoint
        #expect(endpoint?.hasSuffix(":\(connection.first?.remote ?? 0)") == true, comment)
    }
}
