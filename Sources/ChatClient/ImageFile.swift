import ChatModel
import Control
import Glibc
import SystemCalls

/// An image as the user named it, opened here: the daemon gets the open file, never a path.
struct ImageFile {
    let descriptor: Descriptor
    /// Without directories.
    let name: String

    /// - Throws: With ``Control/ExitStatus/noInput`` for what isn't there, can't be read, or isn't a regular file.
    init(_ path: String) throws(CommandFailure) {
        let shown = SafeText.line(path)
        // Not to wait for the other end of a FIFO.
        let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            throw CommandFailure(.noInput, "\(shown)\(Self.reason(path, code))")
        }
        descriptor = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0 else {
            throw CommandFailure(.noInput, "\(shown): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.noInput, "\(shown) is \(Self.kind(status.st_mode)), not a file")
        }
        name = path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func reason(_ path: String, _ code: CInt) -> String {
        var status = stat()
        if code == ENXIO, stat(path, &status) == 0 { return " is \(kind(status.st_mode)), not a file" }
        return ": \(String(cString: strerror(code)))"
    }

    private static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a FIFO"
        case S_IFSOCK: "a socket"
        case S_IFCHR, S_IFBLK: "a device"
        default: "special"
        }
    }
}
