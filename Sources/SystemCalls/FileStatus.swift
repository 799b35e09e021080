public import Glibc

/// What the kernel says of a file, as far as we ask (inode(7)).
public struct FileStatus: Hashable, Sendable {
    /// One of `S_IFREG`, `S_IFDIR`, `S_IFLNK`, `S_IFSOCK` and the others.
    public let kind: mode_t
    /// Permission bits.
    public let mode: mode_t
    public let owner: uid_t
    public let inode: ino_t
    /// In bytes.
    public let size: UInt64
    /// When its content last changed, in nanoseconds since 1970.
    public let modified: Int64

    public var isRegular: Bool { kind == S_IFREG }

    private init(_ status: stat) {
        kind = status.st_mode & S_IFMT
        mode = status.st_mode & 0o7777
        owner = status.st_uid
        inode = status.st_ino
        size = UInt64(max(status.st_size, 0))
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }

    /// Asks about an open file; `subject` is what errors call it.
    public init(of file: Descriptor, _ subject: String) throws(SystemCallError) {
        var status = stat()
        try systemCall("fstat", subject) { fstat(file.number, &status) }
        self.init(status)
    }

    /// Asks about what is at a path; a symbolic link there counts as itself.
    public init(at path: String) throws(SystemCallError) {
        var status = stat()
        try systemCall("lstat", path) { lstat(path, &status) }
        self.init(status)
    }

    /// As ``init(at:)``, with a name in an open directory; `path` is what errors call it.
    public init(of name: String, in directory: Descriptor, _ path: String) throws(SystemCallError) {
        var status = stat()
        try systemCall("stat", path) { fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) }
        self.init(status)
    }
}
