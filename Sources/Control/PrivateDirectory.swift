import Glibc
import SystemCalls

/// Directories that only their owner can change.
enum PrivateDirectory {
    /// Makes the directory if it is missing (mode 0700, parents too), and checks it.
    ///
    /// A symbolic link, another user's directory, or one that others can write to is refused.
    static func prepare(_ path: String) throws(CommandFailure) {
        let status: FileStatus
        do throws(SystemCallError) {
            try makeDirectory(path)
            status = try FileStatus(at: path)
        } catch { throw CommandFailure(.cannotCreate, "\(error)") }
        try check(status, path)
    }

    private static func check(_ status: FileStatus, _ path: String) throws(CommandFailure) {
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
}
