import ChatModel
import Glibc
import SystemCalls

/// Finds the daemon that a client means.
public struct DaemonLocator: Sendable {
    private let stateDirectory: String?
    /// The room that the daemon has to be in; `nil` where any will do.
    public let room: String?
    private let environment: [String: String]

    /// - Parameters:
    ///   - stateDirectory: What `--state-dir` says; else `CHAT_STATE_DIR` counts.
    ///   - room: What `--room` says; else `CHAT_ROOM` counts. Folded to lower case.
    ///   - environment: Where the variables are looked up.
    public init(stateDirectory: String?, room: String?, environment: [String: String]) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        // What is said on the command line counts before the environment says where.
        self.stateDirectory = stateDirectory ?? (room == nil ? variable("CHAT_STATE_DIR") : nil)
        self.room = (room ?? (stateDirectory == nil ? variable("CHAT_ROOM") : nil)).map { Names.folded(room: $0) }
        self.environment = environment
    }

    enum Finding {
        case none
        case one(Descriptor, path: String)
        /// One is there but takes no connection now.
        case busy(path: String)
    }

    /// Looks once.
    ///
    /// - Throws: When several daemons run and nothing says which, or when the only one is another user's.
    func look() throws(CommandFailure) -> Finding {
        var open: [(socket: Descriptor, path: String)] = []
        var busy: String?
        for path in try candidates() {
            do throws(SystemCallError) {
                open.append((try UnixSocket.connect(to: path), path))
            } catch {
                switch error.code {
                case ENOENT, ECONNREFUSED, ENOTDIR: continue
                case EAGAIN: busy = path
                case EACCES, EPERM: throw CommandFailure(.noPermission, "\(path) belongs to another user")
                default: throw CommandFailure(.unavailable, "\(error)")
                }
            }
        }
        if open.count > 1 { throw several(open.map(\.path)) }
        if let found = open.first {
            guard let user = try? peerUser(of: found.socket.number), user == geteuid() else {
                throw CommandFailure(.noPermission, "the chatd at \(found.path) belongs to another user")
            }
            return .one(found.socket, path: found.path)
        }
        return busy.map { .busy(path: $0) } ?? .none
    }

    private func candidates() throws(CommandFailure) -> [String] {
        if let room, let complaint = Names.complaint(room: room) {
            throw CommandFailure(.usage, visible(complaint))
        }
        if let stateDirectory {
            let path = StateDirectory(at: stateDirectory).socket
            try UnixSocket.check(path)
            return [path]
        }
        return StateDirectory.socketDirectories(environment).flatMap { directory in
            ((try? names(inDirectory: directory)) ?? []).filter(isMeant).sorted().map { "\(directory)/\($0)" }
        }
        .filter { $0.utf8.count <= UnixSocket.longestPath }
    }

    private func isMeant(_ entry: String) -> Bool {
        guard let name = Self.room(of: entry) else { return false }
        return room == nil || name == room
    }

    /// The room in `<room>-<8 digits>.sock`.
    private static func room(of entry: some StringProtocol) -> String? {
        guard entry.hasSuffix(".sock") else { return nil }
        let name = entry.dropLast(5)
        let suffix = name.suffix(9)
        guard suffix.count == 9, suffix.first == "-", suffix.dropFirst().allSatisfy(\.isHexDigit) else { return nil }
        return String(name.dropLast(9))
    }

    private func several(_ paths: [String]) -> CommandFailure {
        let names = paths.map { path in
            let entry = path.split(separator: "/").last ?? ""
            return Self.room(of: entry) == room ? path : Self.room(of: entry) ?? path
        }
        let hint = room == nil ? "say which with --room" : "say which with --state-dir"
        return CommandFailure(
            .usage, "\(paths.count) chatd are running: \(names.map { visible($0) }.joined(separator: ", ")); \(hint)")
    }
}
