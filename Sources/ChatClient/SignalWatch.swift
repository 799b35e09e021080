import Dispatch
import Glibc
import Locking

/// Takes signals as events instead of dying of them; gives them back their old meaning at the end.
///
/// The handler is in place when `init` returns: a dispatch source would drop what comes before it is ready.
final class SignalWatch {
    typealias Report = @Sendable (CInt) -> Void

    /// Both ends of the pipe from the handlers to the reader, for as long as the process lives.
    private static let ends: [CInt] = {
        var ends: [CInt] = [-1, -1]
        _ = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        return ends
    }()
    private static let reports = Locked<[CInt: Report]>([:])
    private static let reader: Void = DispatchQueue(label: "chat.signals").async {
        var number: UInt8 = 0
        while read(ends[0], &number, 1) == 1 || errno == EINTR {
            let report = reports.withLock { $0[CInt(number)] }
            report?(CInt(number))
        }
    }

    private var before: [(CInt, sigaction)] = []

    init(_ signals: [CInt], _ report: @escaping Report) {
        _ = Self.reader
        _ = Self.ends  // made before a handler asks for them
        for number in signals {
            Self.reports.withLock { $0[number] = report }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                let code = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(SignalWatch.ends[1], &byte, 1)
                errno = code
            }
            action.sa_flags = SA_RESTART
            var old = sigaction()
            sigaction(number, &action, &old)
            before.append((number, old))
        }
    }

    func stop() {
        for (number, old) in before {
            var old = old
            sigaction(number, &old, nil)
            _ = Self.reports.withLock { $0.removeValue(forKey: number) }
        }
        before = []
    }

    deinit { stop() }
}
