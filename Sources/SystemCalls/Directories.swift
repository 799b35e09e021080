import Glibc

/// Opens a directory, or what a symbolic link to one points to.
public func openDirectory(_ path: String) throws(SystemCallError) -> Descriptor {
    Descriptor(owning: try systemCall("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
}

/// Makes a directory and those above it where they are missing, mode 0700; whatever is there is left alone.
public func makeDirectory(_ path: String) throws(SystemCallError) {
    do throws(SystemCallError) {
        try systemCall("mkdir", path) { mkdir(path, 0o700) }
    } catch {
        if error.code == EEXIST { return }
        guard error.code == ENOENT, let parent = parentDirectory(of: path) else { throw error }
        try makeDirectory(parent)
        try systemCall("mkdir", path) { mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : -1 }
    }
}

/// What is in a directory, in no order, without `.` and `..`.
public func names(inDirectory path: String) throws(SystemCallError) -> [String] {
    guard let stream = opendir(path) else { throw SystemCallError(call: "opendir", subject: path, code: errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// Everything before a path's last component; `nil` for a bare name or the root.
public func parentDirectory(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return nil }
    return String(path[..<slash])
}
