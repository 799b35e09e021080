import Glibc
import SystemCalls

/// Proof that no other process uses a state directory; held until the last reference goes.
public final class StateLock: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }
}

extension StateDirectory {
    /// Takes the directory for this process, after ``prepare()``.
    ///
    /// The kernel gives a lock back when its process ends, and not before: a stopped daemon still holds its own.
    /// - Throws: With ``ExitStatus/tryAgain`` when another process holds it.
    public func lock() throws(CommandFailure) -> StateLock {
        let file = "\(path)/lock"
        do throws(SystemCallError) {
            let number = try systemCall("open", file) {
                open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            }
            let descriptor = Descriptor(owning: number)
            try systemCall("flock", file) { flock(number, LOCK_EX | LOCK_NB) }
            try record(getpid(), in: number, file)
            return StateLock(descriptor)
        } catch {
            if error.code == EWOULDBLOCK {
                throw CommandFailure(.tryAgain, "already running\(holder(of: file)) in \(path)")
            }
            throw CommandFailure(.cannotCreate, "\(error)")
        }
    }

    private func record(_ process: pid_t, in number: CInt, _ file: String) throws(SystemCallError) {
        let line = Array("\(process)\n".utf8)
        try systemCall("ftruncate", file) { ftruncate(number, 0) }
        try systemCall("write", file) { pwrite(number, line, line.count, 0) }
    }

    private func holder(of file: String) -> String {
        let number = open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return "" }
        let descriptor = Descriptor(owning: number)
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(descriptor.number, &bytes, bytes.count)
        guard count > 1, let process = pid_t(String(decoding: bytes[..<(count - 1)], as: UTF8.self)) else { return "" }
        // The one before, if the present one has not yet written itself down.
        if kill(process, 0) != 0, errno == ESRCH { return "" }
        return " (process \(process))"
    }
}
