import Glibc

/// A child process that inherits nothing but the three standard files: what it leaves running can't hold up a pipe of ours,
/// nor be taken for itself.
final class Child: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let pid: pid_t
    /// Ours: the child reads what is written here.
    let input: CInt
    /// Ours: what the child prints.
    let output: CInt

    /// - Parameter arguments: Command and arguments; the command is looked for in `PATH`.
    init(_ arguments: [String]) throws {
        var toChild: [CInt] = [-1, -1], fromChild: [CInt] = [-1, -1]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            throw Failure(description: "pipe: errno \(errno)")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        for inherited in CInt(3)..<1024 { posix_spawn_file_actions_addclose(&actions, inherited) }
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, arguments[0], &actions, nil, &words, environ)
        close(toChild[0])
        close(fromChild[1])
        for ours in [toChild[1], fromChild[0]] { _ = fcntl(ours, F_SETFD, FD_CLOEXEC) }
        self.pid = pid
        input = toChild[1]
        output = fromChild[0]
        guard code == 0 else { throw Failure(description: "spawn \(arguments[0]): errno \(code)") }
    }

    /// - Returns: The exit status; -1 if a signal ended it.
    @discardableResult func wait() -> CInt {
        var status: CInt = 0
        while waitpid(pid, &status, 0) == -1, errno == EINTR {}
        return status & 0x7f == 0 ? status >> 8 & 0xff : -1
    }

    func kill(_ signal: CInt) { _ = Glibc.kill(pid, signal) }

    /// Blocks until the child has printed something.
    ///
    /// - Returns: `nil` at the end.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }
}
