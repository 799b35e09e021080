import CSystem
import Glibc

/// What tells a file from a copy of it, or from one restored in its place (statx(2)).
public struct FileBirth: Hashable, Sendable {
    public var inode: UInt64
    /// Nanoseconds since 1970; 0 where the file system doesn't record it.
    public var time: Int64

    public init(inode: UInt64, time: Int64) {
        self.inode = inode
        self.time = time
    }

    /// Asks about the file at `path`; a symbolic link there is not followed.
    public init(ofFileAt path: String) throws(SystemCallError) {
        var birth = csystem_birth()
        try systemCall("statx", path) { csystem_birth(path, &birth) }
        inode = birth.inode
        time = birth.seconds &* 1_000_000_000 &+ Int64(birth.nanoseconds)
    }
}

/// Opens a new file for reading and writing, mode 0600, that vanishes unless it is given a name.
///
/// - Returns: `nil` where the file system has no such files.
public func openNameless(in directory: CInt, _ subject: String) throws(SystemCallError) -> Descriptor? {
    do {
        return Descriptor(owning: try systemCall("open", subject) { csystem_open_nameless(directory) })
    } catch {
        // EISDIR comes from kernels, ENOENT from file systems, that don't know O_TMPFILE (open(2)).
        if [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(error.code) { return nil }
        throw error
    }
}

/// Makes an empty file share the blocks of another, if the file system can: a snapshot that takes no room.
public func clone(_ source: CInt, to copy: CInt) -> Bool { csystem_clone(source, copy) == 0 }

/// Renames a file within a directory.
///
/// - Throws: `EEXIST` when the new name is taken.
public func renameWithoutReplacing(
    _ name: String, to newName: String, in directory: CInt
) throws(SystemCallError) {
    try systemCall("rename", newName) { csystem_rename_new(directory, name, newName) }
}

/// Where the next byte of a file is that was ever written, at or after `offset`; `nil` if there is none.
public func nextData(in file: CInt, from offset: Int64) -> Int64? {
    let position = csystem_next_data(file, off_t(offset))
    return position < 0 ? nil : Int64(position)
}
