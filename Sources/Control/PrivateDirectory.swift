import Glibc
import SystemCalls

/// Directories that only their owner can change.
enum PrivateDirectory {
    /// Makes the directory if it is missing (mode 0700, parents too), and checks it.
    ///
    /// A symbolic link, another user's directory, or one that others can write to is refused.
    static func prepare(_ path: String) throws(CommandFailure) {
        try make(path)
        try check(path)
    }

    private static func make(_ path: String) throws(CommandFailure) {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT:
            guard let parent = parent(of: path) else { fallthrough }
            try make(parent)
            if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
            fallthrough
        default:
            throw CommandFailure(.cannotCreate, "\(SystemCallError(call: "mkdir", subject: path, code: errno))")
        }
    }

    private static func check(_ path: String) throws(CommandFailure) {
        guard let status = FileStatus(path) else {
            throw CommandFailure(.cannotCreate, "\(SystemCallError(call: "lstat", subject: path, code: errno))")
        }
        guard status.kind == S_IFDIR else {
            let what = status.kind == S_IFLNK ? "a symbolic link" : "not a directory"
            throw CommandFailure(.cannotCreate, "\(path) is \(what); refusing to use it")
        }
        guard status.owner == geteuid() else {
            throw CommandFailure(.noPermission, "\(path) belongs to another user")
        }
        guard status.mode & 0o022 == 0 else {
            throw CommandFailure(.cannotCreate, "others can write to \(path); try: chmod 700 \(path)")
        }
    }

    /// Everything before the last component; `nil` for a bare name or the root.
    static func parent(of path: String) -> String? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return nil }
        return String(path[..<slash])
    }
}

/// What lstat(2) says: the path itself, not what a link points to.
struct FileStatus {
    let kind: mode_t
    let mode: mode_t
    let owner: uid_t
    let device: dev_t
    let inode: ino_t

    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        kind = status.st_mode & S_IFMT
        mode = status.st_mode & 0o7777
        owner = status.st_uid
        device = status.st_dev
        inode = status.st_ino
    }
}
