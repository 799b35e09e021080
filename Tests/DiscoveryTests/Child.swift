import Glibc
import Locking

/// A child process that inherits nothing but the three standard files: what it leaves running can't hold up a pipe of ours,
/// nor be taken for itself.
final class Child: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let pid: pid_t
    private let input: Locked<CInt?>  // ours: the child reads what is written here
    /// Ours: what the child prints.
    let output: CInt
    private let status = Locked<CInt?>(nil)

    // The command is looked for in `PATH`.
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
        input = Locked(toChild[1])
        output = fromChild[0]
        guard code == 0 else { throw Failure(description: "spawn \(arguments[0]): errno \(code)") }
    }

    deinit {
        end()
        endInput()
        close(output)
    }

    /// Lets the child read its end of file.
    func endInput() { if let file = input.withLock({ $0.take() }) { close(file) } }

    /// - Returns: The exit status; -1 if a signal ended it.
    @discardableResult func wait() -> CInt {
        status.withLock { status in
            if let status { return status }
            var word: CInt = 0
            while waitpid(pid, &word, 0) == -1, errno == EINTR {}
            let result = word & 0x7f == 0 ? word >> 8 & 0xff : -1
            status = result
            return result
        }
    }

    /// Kills it if it still runs.
    func end() {
        if status.withLock({ $0 == nil }) { kill(pid, SIGKILL) }
        wait()
    }

    /// Blocks until the child has printed something.
    ///
    /// - Returns: `nil` at the end.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }
}
