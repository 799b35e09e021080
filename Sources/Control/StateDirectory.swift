import Glibc
public import Identity
import SystemCalls

/// Where a daemon keeps its state and listens; both programs compute the paths here and nowhere else.
///
/// By default `$XDG_STATE_HOME/chat` holds `identity`, `last`, and a directory for each room; the socket is in
/// `$XDG_RUNTIME_DIR/chat`, or in `$XDG_STATE_HOME/chat/run` where that isn't ours. With `--state-dir D` all of it is
/// in D (docs/architecture.md).
public struct StateDirectory: Sendable, Equatable {
    /// The room's directory; its owner holds ``lock()``.
    public let path: String
    /// The file with the secret key.
    public let identity: String
    /// The file that remembers room and name.
    public let last: String
    /// The socket that the daemon listens on.
    public let socket: String

    /// Everything in one directory, as `--state-dir` says.
    public init(at path: String) {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.path = path
        identity = "\(path)/identity"
        last = "\(path)/last"
        socket = "\(path)/chatd.sock"
    }

    /// The default place for a room.
    public init(room: String, id: RoomID, environment: [String: String]) {
        let base = Self.base(environment)
        let name = "\(room)-\(id.suffix)"
        path = "\(base)/\(name)"
        identity = "\(base)/identity"
        last = Self.last(environment)
        socket = "\(Self.socketDirectories(environment)[0])/\(name).sock"
    }

    /// The file that remembers room and name where no `--state-dir` is given; needed before the room is known.
    public static func last(_ environment: [String: String]) -> String { "\(base(environment))/last" }

    /// Where received files go unless `--downloads` says otherwise.
    public static func downloads(room: String, environment: [String: String]) -> String {
        "\(home(environment))/Downloads/chat/\(room)"
    }

    /// The file with the secret key, where no daemon need run: in `directory`, or in the default place.
    public static func identity(in directory: String?, environment: [String: String]) -> String {
        directory.map { StateDirectory(at: $0).identity } ?? "\(base(environment))/identity"
    }

    /// Reads this host's secret key, or makes one, and the directory for it.
    public static func openIdentity(_ file: String) throws(CommandFailure) -> SigningKey {
        if let directory = parentDirectory(of: file) { try PrivateDirectory.prepare(directory) }
        return try IdentityFile.open(file)
    }

    /// Makes and checks the directories, mode 0700; both `path` and the socket's.
    public func prepare() throws(CommandFailure) {
        try UnixSocket.check(socket)
        for file in [identity, "\(path)/lock", socket] {
            if let directory = parentDirectory(of: file) { try PrivateDirectory.prepare(directory) }
        }
    }

    /// `$XDG_STATE_HOME/chat`; `~/.local/state/chat` where that is unset or not absolute (XDG Base Directory 0.8).
    static func base(_ environment: [String: String]) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/chat" }
        return "\(home(environment))/.local/state/chat"
    }

    /// Where default sockets may be; a new one goes to the first.
    static func socketDirectories(_ environment: [String: String]) -> [String] {
        let fallback = "\(base(environment))/run"
        guard let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"),
            let status = try? FileStatus(at: runtime), status.kind == S_IFDIR, status.owner == geteuid()
        else { return [fallback] }
        return ["\(runtime)/chat", fallback]
    }

    private static func home(_ environment: [String: String]) -> String {
        if let home = environment["HOME"], home.hasPrefix("/") { return home == "/" ? "" : home }
        guard let user = getpwuid(geteuid()), let home = user.pointee.pw_dir else { return "" }
        return String(cString: home)
    }
}
