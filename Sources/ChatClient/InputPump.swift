import Dispatch
import Glibc
import SystemCalls

/// Reads a stream on a thread of its own, one chunk at a time.
///
/// Works for terminals, pipes and files alike, and never changes the descriptor's flags, which other programs share.
final class InputPump: Sendable {
    private let wake: Descriptor
    private let stopper: Descriptor
    private let isTaken = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - input: Stays open while the pump runs.
    ///   - deliver: Gets each chunk, an empty one at the end; then nothing comes until ``proceed()``.
    /// - Throws: When no pipe can be made.
    init(_ input: CInt, deliver: @escaping @Sendable ([UInt8]) -> Void) throws(SystemCallError) {
        var ends: [CInt] = [-1, -1]
        try systemCall("pipe", "input") { pipe(&ends) }
        wake = Descriptor(owning: ends[0])
        stopper = Descriptor(owning: ends[1])
        DispatchQueue(label: "chat.input").async { [wake, isTaken] in
            while true {
                let bytes = Self.read(input, unless: wake.number)
                guard let bytes else { return }
                deliver(bytes)
                if bytes.isEmpty { return }
                isTaken.wait()
            }
        }
    }

    /// Lets the next chunk come.
    func proceed() { isTaken.signal() }

    /// Ends the thread soon.
    func stop() {
        _ = Glibc.write(stopper.number, [0], 1)
        isTaken.signal()
    }

    /// - Returns: Empty at the end of the stream, `nil` when stopped.
    private static func read(_ input: CInt, unless wake: CInt) -> [UInt8]? {
        var requests = [
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0), pollfd(fd: input, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&requests, 2, -1) >= 0 || errno == EINTR else { return [] }
            if requests[0].revents != 0 { return nil }
            if requests[1].revents == 0 { continue }
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            let count = Glibc.read(input, &buffer, buffer.count)
            if count >= 0 { return Array(buffer[..<count]) }
            if errno != EINTR && errno != EAGAIN { return [] }  // EIO: the terminal is gone
        }
    }
}
