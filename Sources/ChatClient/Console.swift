import Control
import Glibc
import SystemCalls

/// Nobody reads our output any more: the command ends quietly.
struct OutputClosed: Error {}

/// The three streams of a command.
struct Console: Sendable {
    let input: CInt
    let output: CInt
    let error: CInt

    var isInputTerminal: Bool { isatty(input) == 1 }
    var isOutputTerminal: Bool { isatty(output) == 1 }

    /// The terminal's size; 80 x 24 where it is unknown.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func print(_ line: String) throws { try write(line + "\n") }

    func print(_ lines: [String]) throws {
        if !lines.isEmpty { try write(lines.joined(separator: "\n") + "\n") }
    }

    /// Writes everything.
    ///
    /// - Throws: ``OutputClosed``, or ``Control/CommandFailure`` when the file can't be written.
    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) throws {
        do {
            try Self.write(bytes, to: output)
        } catch {
            if error.code == EPIPE || error.code == EIO { throw OutputClosed() }
            throw CommandFailure(.inputOutput, "\(error)")
        }
    }

    /// One line on the error stream; if nobody reads that, nothing is lost.
    func complain(_ line: String) { try? Self.write(Array((line + "\n").utf8), to: error) }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(SystemCallError) {
                let written = try rest.withUnsafeBytes { part in
                    Result { () throws(SystemCallError) in
                        try systemCall("write", "output") { Glibc.write(descriptor, part.baseAddress, part.count) }
                    }
                }.get()
                rest = rest.dropFirst(written)
            } catch {
                guard error.code == EAGAIN else { throw error }
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            }
        }
    }
}
