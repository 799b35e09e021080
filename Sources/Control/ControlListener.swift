import Glibc
import SystemCalls

/// Makes the listening socket, and never takes a path from somebody who still uses it.
enum ControlListener {
    static func open(_ path: String) throws(CommandFailure) -> Descriptor {
        try UnixSocket.check(path)
        do {
            let directory = try lockDirectory(of: path)
            defer { withExtendedLifetime(directory) {} }
            try clear(path)
            return try bind(path)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.cannotCreate, "\(error)")
        }
    }

    private static func bind(_ path: String) throws(SystemCallError) -> Descriptor {
        let listener = try UnixSocket.make()
        try UnixSocket.bind(listener, to: path)
        try systemCall("listen", path) { listen(listener.number, 64) }
        return listener
    }

    /// Two daemons with different state directories may mean one path: between bind and listen it looks stale.
    private static func lockDirectory(of path: String) throws(SystemCallError) -> Descriptor {
        let directory = parentDirectory(of: path) ?? "."
        let descriptor = try openDirectory(directory)
        try systemCall("flock", directory) { flock(descriptor.number, LOCK_EX) }
        return descriptor
    }

    private static func clear(_ path: String) throws(CommandFailure) {
        guard let status = try? FileStatus(at: path) else { return }
        guard status.kind == S_IFSOCK else {
            throw CommandFailure(.cannotCreate, "\(path) is not a socket; it is left as it is")
        }
        do throws(SystemCallError) {
            _ = try UnixSocket.connect(to: path)
        } catch {
            if error.code == ECONNREFUSED {
                unlink(path)
                return
            }
            if error.code == ENOENT { return }
        }
        throw CommandFailure(.tryAgain, "another chatd already answers on \(path)")
    }
}
