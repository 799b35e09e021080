import Glibc
import SystemCalls

/// An open directory: its files are reached by one name each, which no symbolic link bends.
final class Directory: Sendable {
    let path: String
    let descriptor: Descriptor

    /// Opens the directory, which may be a symbolic link to one, and makes it and those above it if missing, mode 0700.
    init(making path: String) throws(SystemCallError) {
        try makeDirectory(path)
        self.path = path
        descriptor = try openDirectory(path)
    }

    /// Opens one of its files; a symbolic link under that name is an error.
    func open(_ name: String, _ flags: CInt, mode: mode_t = 0) throws(SystemCallError) -> Descriptor {
        Descriptor(
            owning: try systemCall("open", "\(path)/\(name)") {
                openat(descriptor.number, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode)
            })
    }

    /// Opens one of its files for reading; `nil` if there is none.
    func openIfPresent(_ name: String, _ flags: CInt = O_RDONLY) throws(SystemCallError) -> Descriptor? {
        do throws(SystemCallError) {
            return try open(name, flags)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// What is under a name, a symbolic link counting as itself; `nil` if nothing is.
    func status(of name: String) throws(SystemCallError) -> FileStatus? {
        do throws(SystemCallError) {
            return try FileStatus(of: name, in: descriptor, "\(path)/\(name)")
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Renames a file, in place of one that has the new name.
    func rename(_ name: String, to newName: String) throws(SystemCallError) {
        try systemCall("rename", "\(path)/\(newName)") {
            renameat(descriptor.number, name, descriptor.number, newName)
        }
    }

    /// Removes a file; none there is as well.
    func remove(_ name: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try systemCall("unlink", "\(path)/\(name)") { unlinkat(descriptor.number, name, 0) }
        } catch { if error.code != ENOENT { throw error } }
    }

    /// Returns once the names in it are on the disk.
    func synchronize() throws(SystemCallError) { try systemCall("fsync", path) { fsync(descriptor.number) } }

    /// Bytes that its file system has free for us.
    func room() throws(SystemCallError) -> UInt64 {
        var status = statvfs()
        try systemCall("statvfs", path) { fstatvfs(descriptor.number, &status) }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// In no order, without `.` and `..`.
    func names() throws(SystemCallError) -> [String] { try SystemCalls.names(inDirectory: path) }
}
