import Dispatch
import Foundation
import Glibc
import Locking
import SystemCalls

/// What to run, and with what.
struct Launch: Sendable {
    /// The program, looked for in PATH if it has no slash, and its arguments.
    var command: [String]
    /// All of it: nothing is inherited.
    var environment: [String: String]
    /// What become its descriptors 0, 1 and 2.
    var standard: [Descriptor]
}

/// POSIX_SPAWN_SETSID of spawn.h, which Swift doesn't see (posix_spawn(3)).
private let setSession: Int16 = 0x80

/// Starts all children, on one thread that never ends.
///
/// Children ask for SIGKILL when their parent is gone (PR_SET_PDEATHSIG, prctl(2)), and the parent in that sense is the
/// thread that made them. A thread of a pool may end any time.
final class Spawner: Sendable {
    static let shared = Spawner()

    private let jobs = Locked<[@Sendable () -> Void]>([])
    private let wake = DispatchSemaphore(value: 0)

    private init() {
        let thread = Thread { [jobs, wake] in
            while true {
                wake.wait()
                jobs.withLock { $0.removeFirst() }()
            }
        }
        thread.name = "spawner"
        thread.start()
    }

    /// Starts a child, in a session of its own, with default signals.
    ///
    /// - Returns: Its process id.
    func spawn(_ launch: Launch) throws(SystemCallError) -> pid_t {
        try run { () throws(SystemCallError) in try Self.posixSpawn(launch) }
    }

    /// Makes a pipe that is closed in every child not given it.
    ///
    /// Swift sees no pipe2(2), but no child starts between the calls that stand for it.
    func pipe() throws(SystemCallError) -> (reading: Descriptor, writing: Descriptor) {
        try run { () throws(SystemCallError) in
            var ends: [CInt] = [-1, -1]
            try systemCall("pipe", "for a child") { Glibc.pipe(&ends) }
            let pipe = (reading: Descriptor(owning: ends[0]), writing: Descriptor(owning: ends[1]))
            for end in ends { try systemCall("fcntl", "a pipe") { fcntl(end, F_SETFD, FD_CLOEXEC) } }
            return pipe
        }
    }

    /// Runs `job` on the thread, and waits for it.
    private func run<Outcome: Sendable>(
        _ job: @escaping @Sendable () throws(SystemCallError) -> Outcome
    ) throws(SystemCallError) -> Outcome {
        let outcome = Locked<Result<Outcome, SystemCallError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        jobs.withLock {
            $0.append {
                let result = Result { () throws(SystemCallError) in try job() }
                outcome.withLock { $0 = result }
                done.signal()
            }
        }
        wake.signal()
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the spawner gave no answer") }
        return try result.get()
    }

    private static func posixSpawn(_ launch: Launch) throws(SystemCallError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, descriptor) in launch.standard.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor.number, CInt(number))
        }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes, setSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        var pid: pid_t = 0
        let code = withCStrings(launch.command) { arguments in
            withCStrings(launch.environment.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawnp(&pid, launch.command[0], &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw SystemCallError(call: "posix_spawn", subject: launch.command[0], code: code) }
        return pid
    }

    /// Strings as C wants an argument list, ended by a null pointer.
    private static func withCStrings<Outcome>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Outcome
    ) -> Outcome {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}

/// Writes all of it; a reader that went away is EPIPE, and no signal, whatever the process does with SIGPIPE.
func writeAll(_ bytes: [UInt8], to descriptor: Descriptor) throws(SystemCallError) {
    var pipeSignal = sigset_t()
    var before = sigset_t()
    sigemptyset(&pipeSignal)
    sigaddset(&pipeSignal, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
    defer {
        var noTime = timespec()
        while sigtimedwait(&pipeSignal, nil, &noTime) == SIGPIPE {}
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = try systemCall("write", "a child's input") {
            rest.withUnsafeBytes { write(descriptor.number, $0.baseAddress, $0.count) }
        }
        rest = rest.dropFirst(count)
    }
}
