import Glibc
import SystemCalls

/// An open directory: its files are reached by one name each, which no symbolic link bends.
final class Directory: Sendable {
    let path: String
    let descriptor: Descriptor

    /// Opens the directory, which may be a symbolic link to one, and makes it and those above it if missing, mode 0700.
    init(making path: String) throws(SystemCallError) {
        try Self.makeIfMissing(path)
        self.path = path
        descriptor = Descriptor(
            owning: try systemCall("open", path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    }

    private static func makeIfMissing(_ path: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try systemCall("mkdir", path) { mkdir(path, 0o700) }
        } catch {
            if error.code == EEXIST { return }
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
                throw error
            }
            try makeIfMissing(String(path[..<slash]))
            try makeIfMissing(path)
        }
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
        var status = stat()
        do throws(SystemCallError) {
            try systemCall("stat", "\(path)/\(name)") {
                fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
            }
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        return FileStatus(status)
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

    func names() throws(SystemCallError) -> [String] {
        guard let stream = opendir(path) else { throw SystemCallError(call: "opendir", subject: path, code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
                })
        }
        return names
    }
}

/// What fstat(2) says of a file, as far as we ask.
struct FileStatus: Equatable {
    let isRegular: Bool
    /// In bytes.
    let size: UInt64
    /// When its content last changed, in nanoseconds since 1970.
    let modified: Int64

    init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = UInt64(max(status.st_size, 0))
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }

    init(of file: Descriptor, _ subject: String) throws(SystemCallError) {
        var status = stat()
        try systemCall("fstat", subject) { fstat(file.number, &status) }
        self.init(status)
    }
}
