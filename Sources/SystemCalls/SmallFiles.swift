import Glibc

/// Reads a file that can't be long; at most `limit` bytes of it.
public func readFile(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
    let file = Descriptor(owning: try systemCall("open", path) { open(path, O_RDONLY | O_CLOEXEC) })
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
        let more = try systemCall("read", path) { read(file.number, &bytes[count], limit - count) }
        if more == 0 { break }
        count += more
    }
    bytes.removeLast(limit - count)
    return bytes
}

/// Makes a file that isn't there yet, whole or not at all, on disk before this returns.
///
/// - Throws: `EEXIST` if it is there.
public func createFile(_ path: String, with bytes: [UInt8]) throws(SystemCallError) {
    try writeBeside(path, bytes) { temporary throws(SystemCallError) in
        try systemCall("link", path) { link(temporary, path) }
    }
}

/// Puts a file in the place of one that may be there; at each moment either is whole.
public func replaceFile(_ path: String, with bytes: [UInt8]) throws(SystemCallError) {
    try writeBeside(path, bytes) { temporary throws(SystemCallError) in
        try systemCall("rename", path) { rename(temporary, path) }
    }
}

private func writeBeside(
    _ path: String, _ bytes: [UInt8], _ moveIn: (String) throws(SystemCallError) -> Void
) throws(SystemCallError) {
    let temporary = "\(path).\(getpid())"
    let number = try systemCall("open", temporary) {
        open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    defer { unlink(temporary) }
    let file = Descriptor(owning: number)
    let count = try systemCall("write", temporary) { write(file.number, bytes, bytes.count) }
    guard count == bytes.count else { throw SystemCallError(call: "write", subject: temporary, code: ENOSPC) }
    try systemCall("fsync", temporary) { fsync(file.number) }
    try moveIn(temporary)
    let directory = parentDirectory(of: path) ?? (path.hasPrefix("/") ? "/" : ".")
    let handle = try openDirectory(directory)
    try systemCall("fsync", directory) { fsync(handle.number) }
}
