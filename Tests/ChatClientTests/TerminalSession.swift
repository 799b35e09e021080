import Foundation
import Glibc
import Locking
import SystemCalls
import Testing

/// The program `chat` on a terminal of its own, as a user would run it.
final class TerminalSession: Sendable {
    let process: pid_t
    private let controller: Descriptor
    /// Keeps the terminal alive after the program ended, to ask for its mode.
    private let terminal: Descriptor
    private let seen = Locked<[UInt8]>([])
    private let isOver = Locked(false)

    /// Beside the running tests, where this build put it.
    static let program: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("chat").path
    }()

    /// ``mode`` before the program could change it.
    let before: [tcflag_t]

    init(_ arguments: [String] = [], _ environment: [String: String], columns: UInt16 = 40, rows: UInt16 = 10) throws {
        let number = try systemCall("open", "/dev/ptmx") { open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) }
        controller = Descriptor(owning: number)
        var lock: CInt = 0
        try systemCall("ioctl", "TIOCSPTLCK") { ioctl(number, 0x4004_5431, &lock) }
        var index: CInt = 0
        try systemCall("ioctl", "TIOCGPTN") { ioctl(number, 0x8004_5430, &index) }
        let name = "/dev/pts/\(index)"
        let slave = Descriptor(owning: try systemCall("open", name) { open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) })
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try systemCall("ioctl", "TIOCSWINSZ") { ioctl(slave.number, UInt(TIOCSWINSZ), &size) }
        terminal = slave
        before = Self.mode(of: slave)
        process = try Self.spawn(arguments, environment, on: name)
        Thread.detachNewThread { [controller, seen, isOver] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                var request = pollfd(fd: controller.number, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, 50)
                if isOver.withLock({ $0 }) { return }
                guard request.revents & Int16(POLLIN) != 0 else { continue }
                let count = read(controller.number, &buffer, buffer.count)
                if count <= 0 { return }
                seen.withLock { $0 += buffer[..<count] }
            }
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        kill(process, SIGKILL)
        var status: CInt = 0
        waitpid(process, &status, 0)
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String: String], on terminal: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream: CInt in 0...2 { posix_spawn_file_actions_addopen(&actions, stream, terminal, O_RDWR, 0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigfillset(&defaults)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        posix_spawnattr_setsigmask(&attributes, &unblocked)
        posix_spawnattr_setflags(
            &attributes, Int16(0x80 | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))  // 0x80: POSIX_SPAWN_SETSID
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, &argv, &envp)
        if code != 0 { throw SystemCallError(call: "posix_spawn", subject: program, code: code) }
        return process
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(controller.number, bytes, bytes.count)
    }

    /// Everything that the program wrote so far.
    var output: String { seen.withLock { String(decoding: $0, as: UTF8.self) } }

    func shows(_ text: String) -> Bool { eventually { output.contains(text) } }

    /// Local modes, input modes: what a raw terminal has switched off.
    var mode: [tcflag_t] { Self.mode(of: terminal) }

    private static func mode(of terminal: Descriptor) -> [tcflag_t] {
        var mode = termios()
        tcgetattr(terminal.number, &mode)
        return [mode.c_lflag, mode.c_iflag, mode.c_oflag]
    }

    /// The exit status, or minus the signal; `nil` if it doesn't end.
    func status() -> CInt? {
        var status: CInt = 0
        guard eventually({ waitpid(process, &status, WNOHANG) == process }) else { return nil }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}
