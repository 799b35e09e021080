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
        // Looked at before it is opened, which a device may take for a command.
        try Self.check(path) { stat(path, &$0) }
        // Not to wait for the other end of a FIFO that has come meanwhile.
        let number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw Self.failure(path) }
        descriptor = Descriptor(owning: number)
        try Self.check(path) { fstat(number, &$0) }
        name = path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func check(_ path: String, _ look: (inout stat) -> CInt) throws(CommandFailure) {
        var status = stat()
        guard look(&status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.noInput, "\(shown(path)) is \(kind(status.st_mode)), not a file")
        }
    }

    /// By errno.
    private static func failure(_ path: String) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        return CommandFailure(.noInput, "\(shown(path)): \(reason)")
    }

    private static func shown(_ path: String) -> String { path.isEmpty ? "''" : SafeText.line(path) }

    private static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a FIFO"
        case S_IFSOCK: "a socket"
        case S_IFCHR, S_IFBLK: "a device"
        default: "something special"
        }
    }
}
